// test: build %s --arch a5
// check: pto.textract ins(%a, %row, %col, %scale :
//
// The scale comes before the window: TEXTRACT(dst, src, preQuantScalar, indexRow, indexCol).

static __aicore__ void windows(__gm__ half *p) {
#if defined(__DAV_CUBE__)
    Tile<TileType::Acc, float, 32, 32, BLayout::ColMajor, 32, 32, SLayout::RowMajor, 1024> a;
    TASSIGN(a, 0);
    Tile<TileType::Mat, half, 16, 16, BLayout::ColMajor, 16, 16, SLayout::RowMajor, 512> b;
    TASSIGN(b, 0);
    const uint64_t scale = 1073741824;
    const int32_t row = 16;
    const int32_t col = 0;
    TEXTRACT(b, a, scale, row, col);
#endif
    return;
}
