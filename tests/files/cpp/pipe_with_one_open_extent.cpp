// test: run %s --arch a2a3 --arg full:f32[16x16]=0.5 --arg full:f32[16x16]=2 --arg zeros:f32[16x16] --arg zeros:i8[8192]
// check: race clean
// out[2]: f32 128*16.0 128*0
//
// One extent of the popped tile is open: the number that it was given counts, the other is that of its type.

#define __aicore__ [aicore]
#define __gm__

static __aicore__ void twice_aic(__gm__ float *v1, __gm__ float *v2, __gm__ float *v3, __gm__ int8_t *v4, int32_t v5, int32_t v6) {
    const int64_t v7 = 0;
    const int64_t v8 = 1024;
#if defined(__DAV_CUBE__)
    Tile<TileType::Mat, float, 16, 16, BLayout::ColMajor, 16, 16, SLayout::RowMajor, 512, PadValue::Null, CompactMode::Null> v9;
    TASSIGN(v9, v7);
    Tile<TileType::Mat, float, 16, 16, BLayout::ColMajor, 16, 16, SLayout::RowMajor, 512, PadValue::Null, CompactMode::Null> v10;
    TASSIGN(v10, v8);
    Tile<TileType::Left, float, 16, 16, BLayout::RowMajor, 16, 16, SLayout::RowMajor, 512, PadValue::Null, CompactMode::Null> v11;
    TASSIGN(v11, v7);
    Tile<TileType::Right, float, 16, 16, BLayout::RowMajor, 16, 16, SLayout::ColMajor, 512, PadValue::Null, CompactMode::Null> v12;
    TASSIGN(v12, v7);
    Tile<TileType::Acc, float, 16, 16, BLayout::ColMajor, 16, 16, SLayout::RowMajor, 1024, PadValue::Null, CompactMode::Null> v13;
    TASSIGN(v13, v7);
    auto v14 = TPipe<0, Direction::DIR_C2V, 1024, 8, 8, true>(v4, v7, v7);
    pto::Shape<1, 1, 1, 16, 16> v15 = pto::Shape<1, 1, 1, 16, 16>();
    pto::Stride<256, 256, 256, 16, 1> v16 = pto::Stride<256, 256, 256, 16, 1>();
    GlobalTensor<float, pto::Shape<1, 1, 1, 16, 16>, pto::Stride<256, 256, 256, 16, 1>, pto::Layout::ND> v17 =
        GlobalTensor<float, pto::Shape<1, 1, 1, 16, 16>, pto::Stride<256, 256, 256, 16, 1>, pto::Layout::ND>(v1, v15, v16);
    GlobalTensor<float, pto::Shape<1, 1, 1, 16, 16>, pto::Stride<256, 256, 256, 16, 1>, pto::Layout::ND> v18 =
        GlobalTensor<float, pto::Shape<1, 1, 1, 16, 16>, pto::Stride<256, 256, 256, 16, 1>, pto::Layout::ND>(v2, v15, v16);
    TLOAD(v9, v17);
    TLOAD(v10, v18);
    set_flag(PIPE_MTE2, PIPE_MTE1, EVENT_ID0);
    wait_flag(PIPE_MTE2, PIPE_MTE1, EVENT_ID0);
    TEXTRACT(v11, v9, v7, v7);
    TEXTRACT(v12, v10, v7, v7);
    set_flag(PIPE_MTE1, PIPE_M, EVENT_ID0);
    wait_flag(PIPE_MTE1, PIPE_M, EVENT_ID0);
    TMATMUL(v13, v11, v12);
    set_flag(PIPE_M, PIPE_FIX, EVENT_ID0);
    wait_flag(PIPE_M, PIPE_FIX, EVENT_ID0);
    TPUSH<TPipe<0, Direction::DIR_C2V, 1024, 8, 8, true>,
          Tile<TileType::Acc, float, 16, 16, BLayout::ColMajor, 16, 16, SLayout::RowMajor, 1024>,
          TileSplitAxis::TILE_NO_SPLIT>(v14, v13);
#endif
    pipe_barrier(PIPE_ALL);
}

static __aicore__ void twice_aiv(
    __gm__ float *v1, __gm__ float *v2, __gm__ float *v3, __gm__ int8_t *v4, int32_t v5, int32_t v6, int32_t v7
) {
    const int64_t v8 = 0;
    const int64_t v9 = 8;
#if defined(__DAV_VEC__)
    set_mask_norm();
    set_vector_mask(-1, -1);
    auto v14 = TPipe<0, Direction::DIR_C2V, 1024, 8, 8, true>(v4, v8, v8);
    Tile<TileType::Vec, float, 16, 16, BLayout::RowMajor, -1, 16> v10 =
        Tile<TileType::Vec, float, 16, 16, BLayout::RowMajor, -1, 16>(v9);
    TPOP<TPipe<0, Direction::DIR_C2V, 1024, 8, 8, true>, Tile<TileType::Vec, float, 16, 16>, TileSplitAxis::TILE_NO_SPLIT>(v14, v10);
    set_flag(PIPE_MTE2, PIPE_MTE3, EVENT_ID0);
    wait_flag(PIPE_MTE2, PIPE_MTE3, EVENT_ID0);
    if ((int64_t)v7 == v8) {
        pto::Shape<1, 1, 1, 8, 16> v11 = pto::Shape<1, 1, 1, 8, 16>();
        pto::Stride<256, 256, 256, 16, 1> v12 = pto::Stride<256, 256, 256, 16, 1>();
        GlobalTensor<float, pto::Shape<1, 1, 1, 8, 16>, pto::Stride<256, 256, 256, 16, 1>, pto::Layout::ND> v13 =
            GlobalTensor<float, pto::Shape<1, 1, 1, 8, 16>, pto::Stride<256, 256, 256, 16, 1>, pto::Layout::ND>(v3, v11, v12);
        TSTORE(v13, v10);
    }
    TFREE<TPipe<0, Direction::DIR_C2V, 1024, 8, 8, true>, TileSplitAxis::TILE_NO_SPLIT>(v14);
#endif
    pipe_barrier(PIPE_ALL);
}

extern "C" __aicore__ void kernel_entry(__gm__ int64_t *args) {
    int32_t block = get_block_idx(args);
    int32_t blocks = get_block_num(args);
    int32_t lane = get_sub_block_id(args);
    __gm__ float *a = reinterpret_cast<__gm__ float *>(args[0]);
    __gm__ float *b = reinterpret_cast<__gm__ float *>(args[1]);
    __gm__ float *out = reinterpret_cast<__gm__ float *>(args[2]);
    __gm__ int8_t *slots = reinterpret_cast<__gm__ int8_t *>(args[3]);
    twice_aiv(a, b, out, slots, block, blocks, lane);
}
