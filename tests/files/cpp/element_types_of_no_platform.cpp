// test: check %s --arch a2a3
// exit: 2

static __aicore__ void types(__gm__ bfloat16_t *a) {
#if defined(__DAV_VEC__)
    Tile<TileType::Vec, bfloat16_t, 2, 32> p;
    TASSIGN(p, 0);
    Tile<TileType::Vec, bfloat16_t, 2, 32> q;
    TASSIGN(q, 128);
    // error: tile-elem `pto.tsub` works on i16, i32, f16, f32 on a2a3, not on bf16
    TSUB(p, p, q);
#endif
    return;
}
