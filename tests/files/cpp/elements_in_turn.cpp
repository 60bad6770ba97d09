// platforms: a5
// test: run %s --arg zeros:f32[16] --arg zeros:f32[16] --arg zeros:f32[16] --arg zeros:f32[16] --arg zeros:f32[8]
// out[0]: f32 1 2 1 2 1 2 1 2 1 2 1 2 1 2 1 2
// out[1]: f32 1 2 1 2 1 2 1 2 1 2 1 2 1 2 1 2
// out[2]: f32 16*1
// out[3]: f32 16*2
// out[4]: f32 8*2
//
// The library's functions take the second halves first: TINTERLEAVE(dst1, dst0, src1, src0).

static __aicore__ void turns(__gm__ float *p, __gm__ float *q, __gm__ float *r, __gm__ float *s, __gm__ float *t) {
#if defined(__DAV_VEC__)
    Tile<TileType::Vec, float, 1, 16> a;
    TASSIGN(a, 0);
    Tile<TileType::Vec, float, 1, 16> b;
    TASSIGN(b, 64);
    Tile<TileType::Vec, float, 1, 16> c;
    TASSIGN(c, 128);
    Tile<TileType::Vec, float, 1, 16> d;
    TASSIGN(d, 192);
    Tile<TileType::Vec, float, 1, 16> e;
    TASSIGN(e, 256);
    Tile<TileType::Vec, float, 1, 16> f;
    TASSIGN(f, 320);
    Tile<TileType::Vec, float, 1, 8> g;
    TASSIGN(g, 384);
    Tile<TileType::Vec, float, 1, 8> h;
    TASSIGN(h, 448);
    GlobalTensor<float, pto::Shape<1, 1, 1, 1, 16>, pto::Stride<16, 16, 16, 16, 1>, pto::Layout::ND> u =
        GlobalTensor<float, pto::Shape<1, 1, 1, 1, 16>, pto::Stride<16, 16, 16, 16, 1>, pto::Layout::ND>(p);
    GlobalTensor<float, pto::Shape<1, 1, 1, 1, 16>, pto::Stride<16, 16, 16, 16, 1>, pto::Layout::ND> v =
        GlobalTensor<float, pto::Shape<1, 1, 1, 1, 16>, pto::Stride<16, 16, 16, 16, 1>, pto::Layout::ND>(q);
    GlobalTensor<float, pto::Shape<1, 1, 1, 1, 16>, pto::Stride<16, 16, 16, 16, 1>, pto::Layout::ND> w =
        GlobalTensor<float, pto::Shape<1, 1, 1, 1, 16>, pto::Stride<16, 16, 16, 16, 1>, pto::Layout::ND>(r);
    GlobalTensor<float, pto::Shape<1, 1, 1, 1, 16>, pto::Stride<16, 16, 16, 16, 1>, pto::Layout::ND> x =
        GlobalTensor<float, pto::Shape<1, 1, 1, 1, 16>, pto::Stride<16, 16, 16, 16, 1>, pto::Layout::ND>(s);
    GlobalTensor<float, pto::Shape<1, 1, 1, 1, 8>, pto::Stride<8, 8, 8, 8, 1>, pto::Layout::ND> y =
        GlobalTensor<float, pto::Shape<1, 1, 1, 1, 8>, pto::Stride<8, 8, 8, 8, 1>, pto::Layout::ND>(t);
    TEXPANDS(a, 1.0f);
    TEXPANDS(b, 2.0f);
    TINTERLEAVE(d, c, b, a);
    TDEINTERLEAVE(f, e, d, c);
    TDEINTERLEAVE(h, g, c);
    set_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
    wait_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
    TSTORE(u, c);
    TSTORE(v, d);
    TSTORE(w, e);
    TSTORE(x, f);
    TSTORE(y, h);
#endif
    return;
}
