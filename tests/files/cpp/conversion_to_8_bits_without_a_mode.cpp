// test: run %s --arch a5 --arg full:f32[1x32]=1000 --arg zeros:f32[1x32]
// out[1]: f32 32*nan
//
// Floats of 8 bits do not saturate without a mode: the headers set no control bit for them (`SaturationCtrlTraits`).
// 1000 is more than e4m3 has, which has no infinity.

static __aicore__ void convert(__gm__ float *a, __gm__ float *b) {
#if defined(__DAV_VEC__)
    Tile<TileType::Vec, float, 1, 32> s;
    TASSIGN(s, 0);
    Tile<TileType::Vec, float8_e4m3_t, 1, 32> m;
    TASSIGN(m, 256);
    Tile<TileType::Vec, float, 1, 32> d;
    TASSIGN(d, 512);
    GlobalTensor<float, pto::Shape<1, 1, 1, 1, 32>, pto::Stride<32, 32, 32, 32, 1>, pto::Layout::ND> x =
        GlobalTensor<float, pto::Shape<1, 1, 1, 1, 32>, pto::Stride<32, 32, 32, 32, 1>, pto::Layout::ND>(a);
    GlobalTensor<float, pto::Shape<1, 1, 1, 1, 32>, pto::Stride<32, 32, 32, 32, 1>, pto::Layout::ND> y =
        GlobalTensor<float, pto::Shape<1, 1, 1, 1, 32>, pto::Stride<32, 32, 32, 32, 1>, pto::Layout::ND>(b);
    TLOAD(s, x);
    set_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
    wait_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
    TCVT(m, s, RoundMode::CAST_RINT);
    pipe_barrier(PIPE_V);
    TCVT(d, m, RoundMode::CAST_RINT);
    set_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
    wait_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
    TSTORE(y, d);
#endif
    return;
}
