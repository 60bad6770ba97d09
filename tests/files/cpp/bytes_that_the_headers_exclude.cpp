// What the assembler takes and the headers of A5 do not (`static_assert` of `TMulS.hpp` and `TDivS.hpp`).
// test: check %s --arch a5
// exit: 2

static __aicore__ void types() {
#if defined(__DAV_VEC__)
    Tile<TileType::Vec, int8_t, 1, 32> a;
    TASSIGN(a, 0);
    // error: tile-elem
    TMULS(a, a, (int8_t)3);
    // error: tile-elem
    TDIVS(a, a, (int8_t)3);
    TADDS(a, a, (int8_t)3);
#endif
    return;
}
