// test: run %s --arch a5 --arg full:bf16[2x32]=3 --arg full:bf16[2x32]=0.5 --arg full:i8[2x32]=-7 --arg zeros:bf16[2x32] --arg zeros:bf16[2x32] --arg zeros:i8[2x32]
// out[3]: bf16 64*2.5
// out[4]: bf16 64*1.5
// out[5]: i8 64*7
//
// What the tile library takes on A5 and the assembler does not (pages of `TSUB`, `TMUL`, `TABS`).

static __aicore__ void types(__gm__ bfloat16_t *a, __gm__ bfloat16_t *b, __gm__ int8_t *c,
                             __gm__ bfloat16_t *d, __gm__ bfloat16_t *e,
                         __gm__ int8_t *f) {
#if defined(__DAV_VEC__)
    Tile<TileType::Vec, bfloat16_t, 2, 32> p;
    TASSIGN(p, 0);
    Tile<TileType::Vec, bfloat16_t, 2, 32> q;
    TASSIGN(q, 128);
    Tile<TileType::Vec, int8_t, 2, 32> r;
    TASSIGN(r, 256);
    Tile<TileType::Vec, bfloat16_t, 2, 32> u;
    TASSIGN(u, 512);
    Tile<TileType::Vec, bfloat16_t, 2, 32> v;
    TASSIGN(v, 640);
    Tile<TileType::Vec, int8_t, 2, 32> w;
    TASSIGN(w, 768);
    GlobalTensor<bfloat16_t, pto::Shape<1, 1, 1, 2, 32>, pto::Stride<64, 64, 64, 32, 1>, pto::Layout::ND> x0 =
        GlobalTensor<bfloat16_t, pto::Shape<1, 1, 1, 2, 32>, pto::Stride<64, 64, 64, 32, 1>, pto::Layout::ND>(a);
    GlobalTensor<bfloat16_t, pto::Shape<1, 1, 1, 2, 32>, pto::Stride<64, 64, 64, 32, 1>, pto::Layout::ND> x1 =
        GlobalTensor<bfloat16_t, pto::Shape<1, 1, 1, 2, 32>, pto::Stride<64, 64, 64, 32, 1>, pto::Layout::ND>(b);
    GlobalTensor<int8_t, pto::Shape<1, 1, 1, 2, 32>, pto::Stride<64, 64, 64, 32, 1>, pto::Layout::ND> x2 =
        GlobalTensor<int8_t, pto::Shape<1, 1, 1, 2, 32>, pto::Stride<64, 64, 64, 32, 1>, pto::Layout::ND>(c);
    GlobalTensor<bfloat16_t, pto::Shape<1, 1, 1, 2, 32>, pto::Stride<64, 64, 64, 32, 1>, pto::Layout::ND> y0 =
        GlobalTensor<bfloat16_t, pto::Shape<1, 1, 1, 2, 32>, pto::Stride<64, 64, 64, 32, 1>, pto::Layout::ND>(d);
    GlobalTensor<bfloat16_t, pto::Shape<1, 1, 1, 2, 32>, pto::Stride<64, 64, 64, 32, 1>, pto::Layout::ND> y1 =
        GlobalTensor<bfloat16_t, pto::Shape<1, 1, 1, 2, 32>, pto::Stride<64, 64, 64, 32, 1>, pto::Layout::ND>(e);
    GlobalTensor<int8_t, pto::Shape<1, 1, 1, 2, 32>, pto::Stride<64, 64, 64, 32, 1>, pto::Layout::ND> y2 =
        GlobalTensor<int8_t, pto::Shape<1, 1, 1, 2, 32>, pto::Stride<64, 64, 64, 32, 1>, pto::Layout::ND>(f);
    TLOAD(p, x0);
    TLOAD(q, x1);
    TLOAD(r, x2);
    set_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
    wait_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
    TSUB(u, p, q);
    TMUL(v, p, q);
    TABS(w, r);
    set_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
    wait_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
    TSTORE(y0, u);
    TSTORE(y1, v);
    TSTORE(y2, w);
#endif
    return;
}
