// test: build %s --arch a5
// check: pto.tgather ins(%a, %5, %t {cmpMode = #pto.cmp<eq>, offset = 3} : !pto.tile_buf<vec, 1x64xi32>, i32, !pto.tile_buf<vec, 1x2048xi32>) outs(%b, %c :
//
// TGATHER(dst, src, value, counts, tmp, offset) has the counts among the others, and an attribute at the end.

static __aicore__ void found(__gm__ int32_t *p, __gm__ int32_t *q, __gm__ int32_t *r) {
#if defined(__DAV_VEC__)
    Tile<TileType::Vec, int32_t, 1, 64> a;
    TASSIGN(a, 0);
    Tile<TileType::Vec, int32_t, 1, 64> b;
    TASSIGN(b, 256);
    Tile<TileType::Vec, int32_t, 1, 8, BLayout::RowMajor, 1, 1> c;
    TASSIGN(c, 512);
    Tile<TileType::Vec, int32_t, 1, 2048> t;
    TASSIGN(t, 1024);
    TEXPANDS(a, 5);
    pipe_barrier(PIPE_V);
    TGATHER<CmpMode::EQ>(b, a, 5, c, t, 3);
#endif
    return;
}
