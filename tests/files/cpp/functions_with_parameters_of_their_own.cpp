// test: run %s --arch a5 --arg full:f16[16x16]=1 --arg full:f32[1x16]=3 --arg zeros:f32[1x16]
// check: race clean
// out[2]: f32 16*6.0
//
// Two functions that are launched together and whose parameters have other types: `v1` of the one is not `v1` of the other.

#define __aicore__ [aicore]
#define __gm__

__global__ __aicore__ void left(__gm__ half *v1) {
    const int64_t v2 = 0;
#if defined(__DAV_CUBE__)
    Tile<TileType::Mat, half, 16, 16, BLayout::ColMajor, 16, 16, SLayout::RowMajor, 512, PadValue::Null, CompactMode::Null> v3;
    TASSIGN(v3, v2);
    pto::Shape<1, 1, 1, 16, 16> v4 = pto::Shape<1, 1, 1, 16, 16>();
    pto::Stride<256, 256, 256, 16, 1> v5 = pto::Stride<256, 256, 256, 16, 1>();
    GlobalTensor<half, pto::Shape<1, 1, 1, 16, 16>, pto::Stride<256, 256, 256, 16, 1>, pto::Layout::ND> v6 =
        GlobalTensor<half, pto::Shape<1, 1, 1, 16, 16>, pto::Stride<256, 256, 256, 16, 1>, pto::Layout::ND>(v1, v4, v5);
    TLOAD(v3, v6);
#endif
    return;
}

__global__ __aicore__ void right(__gm__ float *v1, __gm__ float *v2) {
    const int64_t v3 = 0;
    const int64_t v4 = 64;
#if defined(__DAV_VEC__)
    if (get_subblockid() == 0) {
    Tile<TileType::Vec, float, 1, 16, BLayout::RowMajor, 1, 16, SLayout::NoneBox, 512, PadValue::Null, CompactMode::Null> v5;
    TASSIGN(v5, v3);
    Tile<TileType::Vec, float, 1, 16, BLayout::RowMajor, 1, 16, SLayout::NoneBox, 512, PadValue::Null, CompactMode::Null> v6;
    TASSIGN(v6, v4);
    pto::Shape<1, 1, 1, 1, 16> v7 = pto::Shape<1, 1, 1, 1, 16>();
    pto::Stride<16, 16, 16, 16, 1> v8 = pto::Stride<16, 16, 16, 16, 1>();
    GlobalTensor<float, pto::Shape<1, 1, 1, 1, 16>, pto::Stride<16, 16, 16, 16, 1>, pto::Layout::ND> v9 =
        GlobalTensor<float, pto::Shape<1, 1, 1, 1, 16>, pto::Stride<16, 16, 16, 16, 1>, pto::Layout::ND>(v1, v7, v8);
    GlobalTensor<float, pto::Shape<1, 1, 1, 1, 16>, pto::Stride<16, 16, 16, 16, 1>, pto::Layout::ND> v10 =
        GlobalTensor<float, pto::Shape<1, 1, 1, 1, 16>, pto::Stride<16, 16, 16, 16, 1>, pto::Layout::ND>(v2, v7, v8);
    TLOAD(v5, v9);
    set_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
    wait_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
    TADD(v6, v5, v5);
    set_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
    wait_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
    TSTORE(v10, v6);
    }
#endif
    return;
}
