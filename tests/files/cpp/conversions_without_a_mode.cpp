// platforms: a5, a2a3
// test: run %s --arg full:f32[1x32]=-1e6 --arg zeros:f16[1x32] --arg full:f32[1x32]=3.4028234e38 --arg zeros:bf16[1x32] --arg full:f32[1x32]=3e9 --arg zeros:i32[1x32] --arg full:f32[1x32]=70000 --arg zeros:i16[1x32] --arg full:f16[1x32]=300 --arg zeros:i8[1x32] --arg full:f16[1x32]=300 --arg zeros:ui8[1x32] --arg full:f16[1x32]=60000 --arg zeros:i16[1x32] --arg full:i32[1x32]=70000 --arg zeros:i16[1x32] --arg full:i64[1x32]=4294967303 --arg zeros:i32[1x32] --arg full:f16[1x32]=-60000 --arg zeros:i32[1x32]
// out[1]: f16 32*-65504
// out[3]: bf16 32*338953138925153547590470800371487866880
// out[5]: i32 32*2147483647
// out[7]: i16 32*4464
// out[9]: i8 32*44
// out[11]: ui8 32*44
// out[13]: i16 32*-5536
// out[15]: i16 32*4464
// out[17]: i32 32*7
// out[19]: i32 32*-60000
//
// The default of the library's own function: all conversions saturate but those for which its headers say otherwise
// (`TCVT_IMPL`, `kIsNarrowingCvt`).

static __aicore__ void convert(__gm__ float *a0, __gm__ half *b0, __gm__ float *a1, __gm__ bfloat16_t *b1,
                               __gm__ float *a2, __gm__ int32_t *b2, __gm__ float *a3, __gm__ int16_t *b3,
                               __gm__ half *a4, __gm__ int8_t *b4, __gm__ half *a5, __gm__ uint8_t *b5,
                               __gm__ half *a6, __gm__ int16_t *b6, __gm__ int32_t *a7, __gm__ int16_t *b7,
                               __gm__ int64_t *a8, __gm__ int32_t *b8, __gm__ half *a9, __gm__ int32_t *b9) {
#if defined(__DAV_VEC__)
    Tile<TileType::Vec, float, 1, 32> s0;
    TASSIGN(s0, 0);
    Tile<TileType::Vec, half, 1, 32> d0;
    TASSIGN(d0, 256);
    GlobalTensor<float, pto::Shape<1, 1, 1, 1, 32>, pto::Stride<32, 32, 32, 32, 1>, pto::Layout::ND> x0 =
        GlobalTensor<float, pto::Shape<1, 1, 1, 1, 32>, pto::Stride<32, 32, 32, 32, 1>, pto::Layout::ND>(a0);
    GlobalTensor<half, pto::Shape<1, 1, 1, 1, 32>, pto::Stride<32, 32, 32, 32, 1>, pto::Layout::ND> y0 =
        GlobalTensor<half, pto::Shape<1, 1, 1, 1, 32>, pto::Stride<32, 32, 32, 32, 1>, pto::Layout::ND>(b0);
    TLOAD(s0, x0);
    Tile<TileType::Vec, float, 1, 32> s1;
    TASSIGN(s1, 512);
    Tile<TileType::Vec, bfloat16_t, 1, 32> d1;
    TASSIGN(d1, 768);
    GlobalTensor<float, pto::Shape<1, 1, 1, 1, 32>, pto::Stride<32, 32, 32, 32, 1>, pto::Layout::ND> x1 =
        GlobalTensor<float, pto::Shape<1, 1, 1, 1, 32>, pto::Stride<32, 32, 32, 32, 1>, pto::Layout::ND>(a1);
    GlobalTensor<bfloat16_t, pto::Shape<1, 1, 1, 1, 32>, pto::Stride<32, 32, 32, 32, 1>, pto::Layout::ND> y1 =
        GlobalTensor<bfloat16_t, pto::Shape<1, 1, 1, 1, 32>, pto::Stride<32, 32, 32, 32, 1>, pto::Layout::ND>(b1);
    TLOAD(s1, x1);
    Tile<TileType::Vec, float, 1, 32> s2;
    TASSIGN(s2, 1024);
    Tile<TileType::Vec, int32_t, 1, 32> d2;
    TASSIGN(d2, 1280);
    GlobalTensor<float, pto::Shape<1, 1, 1, 1, 32>, pto::Stride<32, 32, 32, 32, 1>, pto::Layout::ND> x2 =
        GlobalTensor<float, pto::Shape<1, 1, 1, 1, 32>, pto::Stride<32, 32, 32, 32, 1>, pto::Layout::ND>(a2);
    GlobalTensor<int32_t, pto::Shape<1, 1, 1, 1, 32>, pto::Stride<32, 32, 32, 32, 1>, pto::Layout::ND> y2 =
        GlobalTensor<int32_t, pto::Shape<1, 1, 1, 1, 32>, pto::Stride<32, 32, 32, 32, 1>, pto::Layout::ND>(b2);
    TLOAD(s2, x2);
    Tile<TileType::Vec, float, 1, 32> s3;
    TASSIGN(s3, 1536);
    Tile<TileType::Vec, int16_t, 1, 32> d3;
    TASSIGN(d3, 1792);
    GlobalTensor<float, pto::Shape<1, 1, 1, 1, 32>, pto::Stride<32, 32, 32, 32, 1>, pto::Layout::ND> x3 =
        GlobalTensor<float, pto::Shape<1, 1, 1, 1, 32>, pto::Stride<32, 32, 32, 32, 1>, pto::Layout::ND>(a3);
    GlobalTensor<int16_t, pto::Shape<1, 1, 1, 1, 32>, pto::Stride<32, 32, 32, 32, 1>, pto::Layout::ND> y3 =
        GlobalTensor<int16_t, pto::Shape<1, 1, 1, 1, 32>, pto::Stride<32, 32, 32, 32, 1>, pto::Layout::ND>(b3);
    TLOAD(s3, x3);
    Tile<TileType::Vec, half, 1, 32> s4;
    TASSIGN(s4, 2048);
    Tile<TileType::Vec, int8_t, 1, 32> d4;
    TASSIGN(d4, 2304);
    GlobalTensor<half, pto::Shape<1, 1, 1, 1, 32>, pto::Stride<32, 32, 32, 32, 1>, pto::Layout::ND> x4 =
        GlobalTensor<half, pto::Shape<1, 1, 1, 1, 32>, pto::Stride<32, 32, 32, 32, 1>, pto::Layout::ND>(a4);
    GlobalTensor<int8_t, pto::Shape<1, 1, 1, 1, 32>, pto::Stride<32, 32, 32, 32, 1>, pto::Layout::ND> y4 =
        GlobalTensor<int8_t, pto::Shape<1, 1, 1, 1, 32>, pto::Stride<32, 32, 32, 32, 1>, pto::Layout::ND>(b4);
    TLOAD(s4, x4);
    Tile<TileType::Vec, half, 1, 32> s5;
    TASSIGN(s5, 2560);
    Tile<TileType::Vec, uint8_t, 1, 32> d5;
    TASSIGN(d5, 2816);
    GlobalTensor<half, pto::Shape<1, 1, 1, 1, 32>, pto::Stride<32, 32, 32, 32, 1>, pto::Layout::ND> x5 =
        GlobalTensor<half, pto::Shape<1, 1, 1, 1, 32>, pto::Stride<32, 32, 32, 32, 1>, pto::Layout::ND>(a5);
    GlobalTensor<uint8_t, pto::Shape<1, 1, 1, 1, 32>, pto::Stride<32, 32, 32, 32, 1>, pto::Layout::ND> y5 =
        GlobalTensor<uint8_t, pto::Shape<1, 1, 1, 1, 32>, pto::Stride<32, 32, 32, 32, 1>, pto::Layout::ND>(b5);
    TLOAD(s5, x5);
    Tile<TileType::Vec, half, 1, 32> s6;
    TASSIGN(s6, 3072);
    Tile<TileType::Vec, int16_t, 1, 32> d6;
    TASSIGN(d6, 3328);
    GlobalTensor<half, pto::Shape<1, 1, 1, 1, 32>, pto::Stride<32, 32, 32, 32, 1>, pto::Layout::ND> x6 =
        GlobalTensor<half, pto::Shape<1, 1, 1, 1, 32>, pto::Stride<32, 32, 32, 32, 1>, pto::Layout::ND>(a6);
    GlobalTensor<int16_t, pto::Shape<1, 1, 1, 1, 32>, pto::Stride<32, 32, 32, 32, 1>, pto::Layout::ND> y6 =
        GlobalTensor<int16_t, pto::Shape<1, 1, 1, 1, 32>, pto::Stride<32, 32, 32, 32, 1>, pto::Layout::ND>(b6);
    TLOAD(s6, x6);
    Tile<TileType::Vec, int32_t, 1, 32> s7;
    TASSIGN(s7, 3584);
    Tile<TileType::Vec, int16_t, 1, 32> d7;
    TASSIGN(d7, 3840);
    GlobalTensor<int32_t, pto::Shape<1, 1, 1, 1, 32>, pto::Stride<32, 32, 32, 32, 1>, pto::Layout::ND> x7 =
        GlobalTensor<int32_t, pto::Shape<1, 1, 1, 1, 32>, pto::Stride<32, 32, 32, 32, 1>, pto::Layout::ND>(a7);
    GlobalTensor<int16_t, pto::Shape<1, 1, 1, 1, 32>, pto::Stride<32, 32, 32, 32, 1>, pto::Layout::ND> y7 =
        GlobalTensor<int16_t, pto::Shape<1, 1, 1, 1, 32>, pto::Stride<32, 32, 32, 32, 1>, pto::Layout::ND>(b7);
    TLOAD(s7, x7);
    Tile<TileType::Vec, int64_t, 1, 32> s8;
    TASSIGN(s8, 4096);
    Tile<TileType::Vec, int32_t, 1, 32> d8;
    TASSIGN(d8, 4352);
    GlobalTensor<int64_t, pto::Shape<1, 1, 1, 1, 32>, pto::Stride<32, 32, 32, 32, 1>, pto::Layout::ND> x8 =
        GlobalTensor<int64_t, pto::Shape<1, 1, 1, 1, 32>, pto::Stride<32, 32, 32, 32, 1>, pto::Layout::ND>(a8);
    GlobalTensor<int32_t, pto::Shape<1, 1, 1, 1, 32>, pto::Stride<32, 32, 32, 32, 1>, pto::Layout::ND> y8 =
        GlobalTensor<int32_t, pto::Shape<1, 1, 1, 1, 32>, pto::Stride<32, 32, 32, 32, 1>, pto::Layout::ND>(b8);
    TLOAD(s8, x8);
    Tile<TileType::Vec, half, 1, 32> s9;
    TASSIGN(s9, 4608);
    Tile<TileType::Vec, int32_t, 1, 32> d9;
    TASSIGN(d9, 4864);
    GlobalTensor<half, pto::Shape<1, 1, 1, 1, 32>, pto::Stride<32, 32, 32, 32, 1>, pto::Layout::ND> x9 =
        GlobalTensor<half, pto::Shape<1, 1, 1, 1, 32>, pto::Stride<32, 32, 32, 32, 1>, pto::Layout::ND>(a9);
    GlobalTensor<int32_t, pto::Shape<1, 1, 1, 1, 32>, pto::Stride<32, 32, 32, 32, 1>, pto::Layout::ND> y9 =
        GlobalTensor<int32_t, pto::Shape<1, 1, 1, 1, 32>, pto::Stride<32, 32, 32, 32, 1>, pto::Layout::ND>(b9);
    TLOAD(s9, x9);
    set_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
    wait_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
    TCVT(d0, s0, RoundMode::CAST_RINT);
    TCVT(d1, s1, RoundMode::CAST_RINT);
    TCVT(d2, s2, RoundMode::CAST_RINT);
    TCVT(d3, s3, RoundMode::CAST_RINT);
    TCVT(d4, s4, RoundMode::CAST_RINT);
    TCVT(d5, s5, RoundMode::CAST_RINT);
    TCVT(d6, s6, RoundMode::CAST_RINT);
    TCVT(d7, s7, RoundMode::CAST_RINT);
    TCVT(d8, s8, RoundMode::CAST_RINT);
    TCVT(d9, s9, RoundMode::CAST_RINT);
    set_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
    wait_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
    TSTORE(y0, d0);
    TSTORE(y1, d1);
    TSTORE(y2, d2);
    TSTORE(y3, d3);
    TSTORE(y4, d4);
    TSTORE(y5, d5);
    TSTORE(y6, d6);
    TSTORE(y7, d7);
    TSTORE(y8, d8);
    TSTORE(y9, d9);
#endif
    return;
}
