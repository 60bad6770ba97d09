// platforms: a5, a2a3
// test: run %s --arg iota:f32[2x8] --arg zeros:f32[2x16] --arg zeros:f32[2x16] --arg zeros:f32[4x8]
// out[1]: f32 0 0 0 1 0 2 0 3 0 4 0 5 0 6 0 7 0 8 0 9 0 10 0 11 0 12 0 13 0 14 0 15
// out[2]: f32 0 0 1 0 2 0 3 0 4 0 5 0 6 0 7 0 8 0 9 0 10 0 11 0 12 0 13 0 14 0 15 0
// out[3]: f32 8*0 0 1 2 3 4 5 6 7 8*0 8 9 10 11 12 13 14 15
//
// A pattern without an axis is along the rows (page of `TSCATTER`).

static __aicore__ void scatter(__gm__ float *a, __gm__ float *b, __gm__ float *c, __gm__ float *d) {
#if defined(__DAV_VEC__)
    Tile<TileType::Vec, float, 2, 8> s;
    TASSIGN(s, 0);
    Tile<TileType::Vec, float, 2, 16> t1;
    TASSIGN(t1, 256);
    Tile<TileType::Vec, float, 2, 16> t2;
    TASSIGN(t2, 512);
    Tile<TileType::Vec, float, 4, 8> t3;
    TASSIGN(t3, 1024);
    GlobalTensor<float, pto::Shape<1, 1, 1, 2, 8>, pto::Stride<16, 16, 16, 8, 1>, pto::Layout::ND> x =
        GlobalTensor<float, pto::Shape<1, 1, 1, 2, 8>, pto::Stride<16, 16, 16, 8, 1>, pto::Layout::ND>(a);
    GlobalTensor<float, pto::Shape<1, 1, 1, 2, 16>, pto::Stride<32, 32, 32, 16, 1>, pto::Layout::ND> y1 =
        GlobalTensor<float, pto::Shape<1, 1, 1, 2, 16>, pto::Stride<32, 32, 32, 16, 1>, pto::Layout::ND>(b);
    GlobalTensor<float, pto::Shape<1, 1, 1, 2, 16>, pto::Stride<32, 32, 32, 16, 1>, pto::Layout::ND> y2 =
        GlobalTensor<float, pto::Shape<1, 1, 1, 2, 16>, pto::Stride<32, 32, 32, 16, 1>, pto::Layout::ND>(c);
    GlobalTensor<float, pto::Shape<1, 1, 1, 4, 8>, pto::Stride<32, 32, 32, 8, 1>, pto::Layout::ND> y3 =
        GlobalTensor<float, pto::Shape<1, 1, 1, 4, 8>, pto::Stride<32, 32, 32, 8, 1>, pto::Layout::ND>(d);
    TLOAD(s, x);
    set_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
    wait_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
    set_flag(PIPE_MTE2, PIPE_S, EVENT_ID1);
    wait_flag(PIPE_MTE2, PIPE_S, EVENT_ID1);
    TSCATTER<MaskPattern::P1010>(t1, s);
    TSCATTER<MaskPattern::P0101, ScatterAxis::SCATTER_ROW>(t2, s);
    TSCATTER<MaskPattern::P1010, pto::ScatterAxis::SCATTER_COL>(t3, s);
    set_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
    wait_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
    set_flag(PIPE_S, PIPE_MTE3, EVENT_ID1);
    wait_flag(PIPE_S, PIPE_MTE3, EVENT_ID1);
    TSTORE(y1, t1);
    TSTORE(y2, t2);
    TSTORE(y3, t3);
#endif
    return;
}
