// test: run %s --arch a5 --arg full:ui32[1x8]=3000000000 --arg iota:i32[1x8] --arg full:ui32[8]=1000000000
// out[2]: ui32 8*4000000000
//
// The tile library of the A5 adds numbers without a sign (page of `MSCATTER`), the assembler does not know them.

static __aicore__ void add(__gm__ uint32_t *a, __gm__ int32_t *b, __gm__ uint32_t *c) {
#if defined(__DAV_VEC__)
    Tile<TileType::Vec, uint32_t, 1, 8> s;
    TASSIGN(s, 0);
    Tile<TileType::Vec, int32_t, 1, 8> i;
    TASSIGN(i, 256);
    GlobalTensor<uint32_t, pto::Shape<1, 1, 1, 1, 8>, pto::Stride<8, 8, 8, 8, 1>, pto::Layout::ND> x0 =
        GlobalTensor<uint32_t, pto::Shape<1, 1, 1, 1, 8>, pto::Stride<8, 8, 8, 8, 1>, pto::Layout::ND>(a);
    GlobalTensor<int32_t, pto::Shape<1, 1, 1, 1, 8>, pto::Stride<8, 8, 8, 8, 1>, pto::Layout::ND> x1 =
        GlobalTensor<int32_t, pto::Shape<1, 1, 1, 1, 8>, pto::Stride<8, 8, 8, 8, 1>, pto::Layout::ND>(b);
    GlobalTensor<uint32_t, pto::Shape<1, 1, 1, 1, 8>, pto::Stride<8, 8, 8, 8, 1>, pto::Layout::ND> y =
        GlobalTensor<uint32_t, pto::Shape<1, 1, 1, 1, 8>, pto::Stride<8, 8, 8, 8, 1>, pto::Layout::ND>(c);
    TLOAD(s, x0);
    TLOAD(i, x1);
    set_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
    wait_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
    MSCATTER<Coalesce::Elem, ScatterAtomicOp::Add>(y, s, i);
#endif
    return;
}
