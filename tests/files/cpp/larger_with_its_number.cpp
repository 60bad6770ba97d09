// platforms: a5, a2a3
// test: run %s --arg zeros:f32[16] --arg zeros:i32[16]
// out[0]: f32 16*2
// out[1]: i32 16*20
//
// The library's function takes the numbers after both values: TPARTARGMAX(dst, src0, src1, dstIdx, src0Idx, src1Idx).

static __aicore__ void larger(__gm__ float *values, __gm__ int32_t *numbers) {
#if defined(__DAV_VEC__)
    Tile<TileType::Vec, float, 1, 16> v;
    TASSIGN(v, 0);
    Tile<TileType::Vec, float, 1, 16> a;
    TASSIGN(a, 64);
    Tile<TileType::Vec, float, 1, 16> b;
    TASSIGN(b, 128);
    Tile<TileType::Vec, int32_t, 1, 16> i;
    TASSIGN(i, 192);
    Tile<TileType::Vec, int32_t, 1, 16> ia;
    TASSIGN(ia, 256);
    Tile<TileType::Vec, int32_t, 1, 16> ib;
    TASSIGN(ib, 320);
    GlobalTensor<float, pto::Shape<1, 1, 1, 1, 16>, pto::Stride<16, 16, 16, 16, 1>, pto::Layout::ND> x =
        GlobalTensor<float, pto::Shape<1, 1, 1, 1, 16>, pto::Stride<16, 16, 16, 16, 1>, pto::Layout::ND>(values);
    GlobalTensor<int32_t, pto::Shape<1, 1, 1, 1, 16>, pto::Stride<16, 16, 16, 16, 1>, pto::Layout::ND> y =
        GlobalTensor<int32_t, pto::Shape<1, 1, 1, 1, 16>, pto::Stride<16, 16, 16, 16, 1>, pto::Layout::ND>(numbers);
    TEXPANDS(a, 1.0f);
    TEXPANDS(b, 2.0f);
    TEXPANDS(ia, 10);
    TEXPANDS(ib, 20);
    pipe_barrier(PIPE_V);
    TPARTARGMAX(v, a, b, i, ia, ib);
    set_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
    wait_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
    TSTORE(x, v);
    TSTORE(y, i);
#endif
    return;
}
