// platforms: a2a3
// test: run %s --arg iota:i32[8] --arg zeros:ui8[32] --arg zeros:ui8[32] --arg zeros:ui8[32]
// check: warning[compare-mode]: `pto.tcmp` of i32 compares with `eq` on boards of a2a3, not with `lt` as here
// check: warning[compare-mode]: `pto.tcmps` of i32 compares with `eq` on boards of a2a3, not with `ge` as here
// check-not: with `ne`
// out[1]: ui8 15 31*0
// out[2]: ui8 240 31*0
// out[3]: ui8 239 31*0
//
// Boards of the A2/A3 compare i32 for equality, whatever the mode (pages of TCMP and TCMPS); `NE` inverts that. A run computes what
// is written, and says so.

static __aicore__ void compared(__gm__ int32_t *p, __gm__ uint8_t *q, __gm__ uint8_t *r, __gm__ uint8_t *s) {
#if defined(__DAV_VEC__)
    Tile<TileType::Vec, int32_t, 1, 8> a;
    TASSIGN(a, 0);
    Tile<TileType::Vec, int32_t, 1, 8> k;
    TASSIGN(k, 32);
    Tile<TileType::Vec, uint8_t, 1, 32> b;
    TASSIGN(b, 64);
    Tile<TileType::Vec, uint8_t, 1, 32> c;
    TASSIGN(c, 96);
    Tile<TileType::Vec, uint8_t, 1, 32> d;
    TASSIGN(d, 128);
    GlobalTensor<int32_t, pto::Shape<1, 1, 1, 1, 8>, pto::Stride<8, 8, 8, 8, 1>, pto::Layout::ND> x =
        GlobalTensor<int32_t, pto::Shape<1, 1, 1, 1, 8>, pto::Stride<8, 8, 8, 8, 1>, pto::Layout::ND>(p);
    GlobalTensor<uint8_t, pto::Shape<1, 1, 1, 1, 32>, pto::Stride<32, 32, 32, 32, 1>, pto::Layout::ND> y =
        GlobalTensor<uint8_t, pto::Shape<1, 1, 1, 1, 32>, pto::Stride<32, 32, 32, 32, 1>, pto::Layout::ND>(q);
    GlobalTensor<uint8_t, pto::Shape<1, 1, 1, 1, 32>, pto::Stride<32, 32, 32, 32, 1>, pto::Layout::ND> z =
        GlobalTensor<uint8_t, pto::Shape<1, 1, 1, 1, 32>, pto::Stride<32, 32, 32, 32, 1>, pto::Layout::ND>(r);
    GlobalTensor<uint8_t, pto::Shape<1, 1, 1, 1, 32>, pto::Stride<32, 32, 32, 32, 1>, pto::Layout::ND> w =
        GlobalTensor<uint8_t, pto::Shape<1, 1, 1, 1, 32>, pto::Stride<32, 32, 32, 32, 1>, pto::Layout::ND>(s);
    TLOAD(a, x);
    TLOAD(b, y);
    TLOAD(c, z);
    TLOAD(d, w);
    set_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
    wait_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
    TEXPANDS(k, 4);
    pipe_barrier(PIPE_V);
    TCMP(b, a, k, CmpMode::LT);
    TCMPS(c, a, 4, CmpMode::GE);
    TCMP(d, a, k, CmpMode::NE);
    set_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
    wait_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
    TSTORE(y, b);
    TSTORE(z, c);
    TSTORE(w, d);
#endif
    return;
}
