// What the assembler takes and the headers of A2/A3 do not (`static_assert` of `TAdd.hpp`, `TMulS.hpp`, `TFmod.hpp` and
// `TCmp.hpp`).
// test: check %s --arch a2a3
// exit: 2

static __aicore__ void types() {
#if defined(__DAV_VEC__)
    Tile<TileType::Vec, uint32_t, 1, 32> a;
    TASSIGN(a, 0);
    Tile<TileType::Vec, uint32_t, 1, 32> b;
    TASSIGN(b, 128);
    Tile<TileType::Vec, int32_t, 1, 32> i;
    TASSIGN(i, 256);
    Tile<TileType::Vec, uint8_t, 1, 32> m;
    TASSIGN(m, 512);
    // error: tile-elem
    TADD(a, a, b);
    // error: tile-elem
    TMULS(a, a, 3u);
    // error: tile-elem
    TPARTADD(a, a, b);
    // error: tile-elem
    TFMOD(i, i, i);
    // error: tile-elem
    TCMP(m, a, b, CmpMode::EQ);
#endif
    return;
}
