// platforms: a5
// test: run %s --arg iota:f32[1x32] --arg zeros:i8[32] --arg zeros:ui8[32]
// out[1]: i8 0 2 4 6 8 10 12 14 16 18 20 22 24 26 28 30 32 34 36 38 40 42 44 46 48 50 52 54 56 58 60 62
// out[2]: ui8 7 9 11 13 15 17 19 21 23 25 27 29 31 33 35 37 39 41 43 45 47 49 51 53 55 57 59 61 63 65 67 69
//
// TQUANT takes its offset by address, and working memory by reference. Numbers of numpy: 2 x and 2 x + 7.

static __aicore__ void scaled(__gm__ float *p, __gm__ int8_t *q, __gm__ uint8_t *r) {
#if defined(__DAV_VEC__)
    Tile<TileType::Vec, float, 1, 32> a;
    TASSIGN(a, 0);
    Tile<TileType::Vec, float, 1, 8, BLayout::RowMajor, 1, 1> k;
    TASSIGN(k, 128);
    Tile<TileType::Vec, float, 1, 8, BLayout::RowMajor, 1, 1> o;
    TASSIGN(o, 160);
    Tile<TileType::Vec, float, 1, 32> t;
    TASSIGN(t, 192);
    Tile<TileType::Vec, int8_t, 1, 32> b;
    TASSIGN(b, 320);
    Tile<TileType::Vec, uint8_t, 1, 32> c;
    TASSIGN(c, 352);
    Tile<TileType::Vec, float, 1, 8> k8;
    TASSIGN(k8, 128);
    Tile<TileType::Vec, float, 1, 8> o8;
    TASSIGN(o8, 160);
    GlobalTensor<float, pto::Shape<1, 1, 1, 1, 32>, pto::Stride<32, 32, 32, 32, 1>, pto::Layout::ND> x =
        GlobalTensor<float, pto::Shape<1, 1, 1, 1, 32>, pto::Stride<32, 32, 32, 32, 1>, pto::Layout::ND>(p);
    GlobalTensor<int8_t, pto::Shape<1, 1, 1, 1, 32>, pto::Stride<32, 32, 32, 32, 1>, pto::Layout::ND> y =
        GlobalTensor<int8_t, pto::Shape<1, 1, 1, 1, 32>, pto::Stride<32, 32, 32, 32, 1>, pto::Layout::ND>(q);
    GlobalTensor<uint8_t, pto::Shape<1, 1, 1, 1, 32>, pto::Stride<32, 32, 32, 32, 1>, pto::Layout::ND> z =
        GlobalTensor<uint8_t, pto::Shape<1, 1, 1, 1, 32>, pto::Stride<32, 32, 32, 32, 1>, pto::Layout::ND>(r);
    TLOAD(a, x);
    pipe_barrier(PIPE_ALL);
    TEXPANDS(k8, 2.0f);
    TEXPANDS(o8, 7.0f);
    TQUANT<QuantType::INT8_SYM>(b, a, k, t);
    TQUANT<QuantType::INT8_ASYM>(c, a, k, t, &o);
    pipe_barrier(PIPE_ALL);
    TSTORE(y, b);
    TSTORE(z, c);
#endif
    return;
}
