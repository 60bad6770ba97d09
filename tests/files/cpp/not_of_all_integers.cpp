// test: run %s --arch a2a3 --arg full:i32[2x32]=5 --arg full:ui8[2x32]=200 --arg zeros:i32[2x32] --arg zeros:ui8[2x32]
// out[2]: i32 64*-6
// out[3]: ui8 64*55
//
// `TNOT` of the library takes all integers on A2/A3 (its page), the assembler those of 16 bits.

static __aicore__ void invert(__gm__ int32_t *a, __gm__ uint8_t *b, __gm__ int32_t *c, __gm__ uint8_t *d) {
#if defined(__DAV_VEC__)
    Tile<TileType::Vec, int32_t, 2, 32> p;
    TASSIGN(p, 0);
    Tile<TileType::Vec, uint8_t, 2, 32> q;
    TASSIGN(q, 256);
    GlobalTensor<int32_t, pto::Shape<1, 1, 1, 2, 32>, pto::Stride<64, 64, 64, 32, 1>, pto::Layout::ND> x0 =
        GlobalTensor<int32_t, pto::Shape<1, 1, 1, 2, 32>, pto::Stride<64, 64, 64, 32, 1>, pto::Layout::ND>(a);
    GlobalTensor<uint8_t, pto::Shape<1, 1, 1, 2, 32>, pto::Stride<64, 64, 64, 32, 1>, pto::Layout::ND> x1 =
        GlobalTensor<uint8_t, pto::Shape<1, 1, 1, 2, 32>, pto::Stride<64, 64, 64, 32, 1>, pto::Layout::ND>(b);
    GlobalTensor<int32_t, pto::Shape<1, 1, 1, 2, 32>, pto::Stride<64, 64, 64, 32, 1>, pto::Layout::ND> y0 =
        GlobalTensor<int32_t, pto::Shape<1, 1, 1, 2, 32>, pto::Stride<64, 64, 64, 32, 1>, pto::Layout::ND>(c);
    GlobalTensor<uint8_t, pto::Shape<1, 1, 1, 2, 32>, pto::Stride<64, 64, 64, 32, 1>, pto::Layout::ND> y1 =
        GlobalTensor<uint8_t, pto::Shape<1, 1, 1, 2, 32>, pto::Stride<64, 64, 64, 32, 1>, pto::Layout::ND>(d);
    TLOAD(p, x0);
    TLOAD(q, x1);
    set_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
    wait_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
    TNOT(p, p);
    TNOT(q, q);
    set_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
    wait_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
    TSTORE(y0, p);
    TSTORE(y1, q);
#endif
    return;
}
