// platforms: a5, a2a3
// test: run %s --arg iota:f32[4x8] --arg zeros:f32[8] --arg zeros:f32[8]
// out[1]: f32 48 52 56 60 64 68 72 76
// out[2]: f32 48 52 56 60 64 68 72 76
//
// The last argument of TCOLSUM(dst, src, tmp, isBinary) is an attribute of the op. Sums of numpy.

static __aicore__ void columns(__gm__ float *p, __gm__ float *q, __gm__ float *r) {
#if defined(__DAV_VEC__)
    Tile<TileType::Vec, float, 4, 8> a;
    TASSIGN(a, 0);
    Tile<TileType::Vec, float, 1, 8> b;
    TASSIGN(b, 128);
    Tile<TileType::Vec, float, 1, 8> c;
    TASSIGN(c, 160);
    Tile<TileType::Vec, float, 4, 8> t;
    TASSIGN(t, 192);
    GlobalTensor<float, pto::Shape<1, 1, 1, 4, 8>, pto::Stride<32, 32, 32, 8, 1>, pto::Layout::ND> x =
        GlobalTensor<float, pto::Shape<1, 1, 1, 4, 8>, pto::Stride<32, 32, 32, 8, 1>, pto::Layout::ND>(p);
    GlobalTensor<float, pto::Shape<1, 1, 1, 1, 8>, pto::Stride<8, 8, 8, 8, 1>, pto::Layout::ND> y =
        GlobalTensor<float, pto::Shape<1, 1, 1, 1, 8>, pto::Stride<8, 8, 8, 8, 1>, pto::Layout::ND>(q);
    GlobalTensor<float, pto::Shape<1, 1, 1, 1, 8>, pto::Stride<8, 8, 8, 8, 1>, pto::Layout::ND> z =
        GlobalTensor<float, pto::Shape<1, 1, 1, 1, 8>, pto::Stride<8, 8, 8, 8, 1>, pto::Layout::ND>(r);
    TLOAD(a, x);
    set_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
    wait_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
    TCOLSUM(b, a, t, true);
    pipe_barrier(PIPE_V);
    TCOLSUM(c, a, t, false);
    set_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
    wait_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
    TSTORE(y, b);
    TSTORE(z, c);
#endif
    return;
}
