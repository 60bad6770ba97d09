// platforms: a5, a2a3
// test: run %s --arg iota:i32[8] --arg zeros:i32[8] --arg zeros:i32[8]
// out[1]: i32 1 1 4 27 256 3125 46656 823543
// out[2]: i32 0 1 8 27 64 125 216 343
//
// The library's functions take working memory for all types. Powers of numpy.

static __aicore__ void powers(__gm__ int32_t *p, __gm__ int32_t *q, __gm__ int32_t *r) {
#if defined(__DAV_VEC__)
    Tile<TileType::Vec, int32_t, 1, 8> a;
    TASSIGN(a, 0);
    Tile<TileType::Vec, int32_t, 1, 8> b;
    TASSIGN(b, 32);
    Tile<TileType::Vec, int32_t, 1, 8> c;
    TASSIGN(c, 64);
    Tile<TileType::Vec, int32_t, 1, 8> t;
    TASSIGN(t, 96);
    GlobalTensor<int32_t, pto::Shape<1, 1, 1, 1, 8>, pto::Stride<8, 8, 8, 8, 1>, pto::Layout::ND> x =
        GlobalTensor<int32_t, pto::Shape<1, 1, 1, 1, 8>, pto::Stride<8, 8, 8, 8, 1>, pto::Layout::ND>(p);
    GlobalTensor<int32_t, pto::Shape<1, 1, 1, 1, 8>, pto::Stride<8, 8, 8, 8, 1>, pto::Layout::ND> y =
        GlobalTensor<int32_t, pto::Shape<1, 1, 1, 1, 8>, pto::Stride<8, 8, 8, 8, 1>, pto::Layout::ND>(q);
    GlobalTensor<int32_t, pto::Shape<1, 1, 1, 1, 8>, pto::Stride<8, 8, 8, 8, 1>, pto::Layout::ND> z =
        GlobalTensor<int32_t, pto::Shape<1, 1, 1, 1, 8>, pto::Stride<8, 8, 8, 8, 1>, pto::Layout::ND>(r);
    TLOAD(a, x);
    pipe_barrier(PIPE_ALL);
    TPOW(b, a, a, t);
    TPOWS(c, a, 3, t);
    pipe_barrier(PIPE_ALL);
    TSTORE(y, b);
    TSTORE(z, c);
#endif
    return;
}
