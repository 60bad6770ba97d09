// test: run %s --arch a5 --arg zeros:f16[32] --arg zeros:f16[32] --arg zeros:bf16[32] --arg zeros:f16[32] --arg zeros:f16[32] --arg zeros:f16[32]
// out[0]: f16 32*-2
// out[1]: f16 32*-2.5
// out[2]: bf16 32*-3
// out[3]: f16 32*1.5
// out[4]: f16 32*-3.5
// out[5]: f16 32*-0.25
//
// To the grammar, `(half)-2.0f` is a difference, and `(half)(-2.5f)` a call.

static __aicore__ void casts(__gm__ half *o0, __gm__ half *o1, __gm__ bfloat16_t *o2, __gm__ half *o3,
                             __gm__ half *o4, __gm__ half *o5) {
#if defined(__DAV_VEC__)
    Tile<TileType::Vec, half, 1, 32> t0;
    TASSIGN(t0, 0);
    Tile<TileType::Vec, half, 1, 32> t1;
    TASSIGN(t1, 64);
    Tile<TileType::Vec, bfloat16_t, 1, 32> t2;
    TASSIGN(t2, 128);
    Tile<TileType::Vec, half, 1, 32> t3;
    TASSIGN(t3, 192);
    Tile<TileType::Vec, half, 1, 32> t4;
    TASSIGN(t4, 256);
    Tile<TileType::Vec, half, 1, 32> t5;
    TASSIGN(t5, 320);
    TEXPANDS(t0, (half)-2.0f);
    TEXPANDS(t1, (half)(-2.5f));
    TEXPANDS(t2, (bfloat16_t)-3.0f);
    TEXPANDS(t3, half(+1.5f) * 2.0f - 1.5f);
    TEXPANDS(t4, (half)+0.5f - 4.0f);
    TEXPANDS(t5, static_cast<half>(-0.25f));
    GlobalTensor<half, pto::Shape<1, 1, 1, 1, 32>, pto::Stride<32, 32, 32, 32, 1>, pto::Layout::ND> g0 =
        GlobalTensor<half, pto::Shape<1, 1, 1, 1, 32>, pto::Stride<32, 32, 32, 32, 1>, pto::Layout::ND>(o0);
    GlobalTensor<half, pto::Shape<1, 1, 1, 1, 32>, pto::Stride<32, 32, 32, 32, 1>, pto::Layout::ND> g1 =
        GlobalTensor<half, pto::Shape<1, 1, 1, 1, 32>, pto::Stride<32, 32, 32, 32, 1>, pto::Layout::ND>(o1);
    GlobalTensor<bfloat16_t, pto::Shape<1, 1, 1, 1, 32>, pto::Stride<32, 32, 32, 32, 1>, pto::Layout::ND> g2 =
        GlobalTensor<bfloat16_t, pto::Shape<1, 1, 1, 1, 32>, pto::Stride<32, 32, 32, 32, 1>, pto::Layout::ND>(o2);
    GlobalTensor<half, pto::Shape<1, 1, 1, 1, 32>, pto::Stride<32, 32, 32, 32, 1>, pto::Layout::ND> g3 =
        GlobalTensor<half, pto::Shape<1, 1, 1, 1, 32>, pto::Stride<32, 32, 32, 32, 1>, pto::Layout::ND>(o3);
    GlobalTensor<half, pto::Shape<1, 1, 1, 1, 32>, pto::Stride<32, 32, 32, 32, 1>, pto::Layout::ND> g4 =
        GlobalTensor<half, pto::Shape<1, 1, 1, 1, 32>, pto::Stride<32, 32, 32, 32, 1>, pto::Layout::ND>(o4);
    GlobalTensor<half, pto::Shape<1, 1, 1, 1, 32>, pto::Stride<32, 32, 32, 32, 1>, pto::Layout::ND> g5 =
        GlobalTensor<half, pto::Shape<1, 1, 1, 1, 32>, pto::Stride<32, 32, 32, 32, 1>, pto::Layout::ND>(o5);
    set_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
    wait_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
    TSTORE(g0, t0);
    TSTORE(g1, t1);
    TSTORE(g2, t2);
    TSTORE(g3, t3);
    TSTORE(g4, t4);
    TSTORE(g5, t5);
#endif
    return;
}
