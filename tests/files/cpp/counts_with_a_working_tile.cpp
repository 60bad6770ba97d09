// platforms: a5, a2a3
// test: run %s --arg zeros:i32[8] --arg zeros:i32[8] --arg zeros:i32[8]
// out[0]: i32 70 69 68 67 66 65 64 63
// out[1]: i32 70 69 68 67 66 65 64 63
// out[2]: i32 70 71 72 73 74 75 76 77
//
// The flag that counts down is the last template argument, after the types: with a working tile there is one more.

static __aicore__ void counts(__gm__ int32_t *p, __gm__ int32_t *q, __gm__ int32_t *r) {
#if defined(__DAV_VEC__)
    Tile<TileType::Vec, int32_t, 1, 8> a;
    TASSIGN(a, 0);
    Tile<TileType::Vec, int32_t, 1, 8> b;
    TASSIGN(b, 32);
    Tile<TileType::Vec, int32_t, 1, 8> c;
    TASSIGN(c, 64);
    Tile<TileType::Vec, float, 1, 512> t;
    TASSIGN(t, 1024);
    GlobalTensor<int32_t, pto::Shape<1, 1, 1, 1, 8>, pto::Stride<8, 8, 8, 8, 1>, pto::Layout::ND> x =
        GlobalTensor<int32_t, pto::Shape<1, 1, 1, 1, 8>, pto::Stride<8, 8, 8, 8, 1>, pto::Layout::ND>(p);
    GlobalTensor<int32_t, pto::Shape<1, 1, 1, 1, 8>, pto::Stride<8, 8, 8, 8, 1>, pto::Layout::ND> y =
        GlobalTensor<int32_t, pto::Shape<1, 1, 1, 1, 8>, pto::Stride<8, 8, 8, 8, 1>, pto::Layout::ND>(q);
    GlobalTensor<int32_t, pto::Shape<1, 1, 1, 1, 8>, pto::Stride<8, 8, 8, 8, 1>, pto::Layout::ND> z =
        GlobalTensor<int32_t, pto::Shape<1, 1, 1, 1, 8>, pto::Stride<8, 8, 8, 8, 1>, pto::Layout::ND>(r);
    TCI<Tile<TileType::Vec, int32_t, 1, 8>, Tile<TileType::Vec, float, 1, 512>, int32_t, 1>(a, 70, t);
    TCI<1>(b, 70);
    TCI<Tile<TileType::Vec, int32_t, 1, 8>, int32_t, 0>(c, 70);
    pipe_barrier(PIPE_ALL);
    TSTORE(x, a);
    TSTORE(y, b);
    TSTORE(z, c);
#endif
    return;
}
