// test: run %s --arch a5 --arg zeros:f32[32] --arg zeros:i32[32] --arg zeros:ui32[32] --arg zeros:ui16[32] --arg zeros:ui8[32] --arg zeros:i32[32] --arg zeros:ui32[32] --arg zeros:ui16[32] --arg zeros:f16[32] --arg 4000000000:ui32 --arg 200:ui8 --arg 18446744073709551615:ui64
// out[0]: f32 32*4000000000
// out[1]: i32 32*200
// out[2]: ui32 32*4294967280
// out[3]: ui16 32*65535
// out[4]: ui8 32*200
// out[5]: i32 32*2
// out[6]: ui32 32*4294967295
// out[7]: ui16 32*65534
// out[8]: f16 32*60000
// test: run %s --arch a5 --arg zeros:f32[32] --arg zeros:i32[32] --arg zeros:ui32[32] --arg zeros:ui16[32] --arg zeros:ui8[32] --arg zeros:i32[32] --arg zeros:ui32[32] --arg zeros:ui16[32] --arg zeros:f16[32] --arg -294967296:i32 --arg -56:i8 --arg -1:i64
// out[0]: f32 32*4000000000
// out[1]: i32 32*200
// out[2]: ui32 32*4294967280
// out[3]: ui16 32*65535
// out[4]: ui8 32*200
// out[5]: i32 32*2
// out[6]: ui32 32*4294967295
// out[7]: ui16 32*65534
// out[8]: f16 32*60000
//
// A number becomes an element as C++ converts an argument: by its value, then modulo the range of the type. Numbers
// without a sign keep their values, also if they are passed as the numbers with a sign that have their bits. 60000 is a
// multiple of 32, so f16 has it.

static __aicore__ void numbers(__gm__ float *o0, __gm__ int32_t *o1, __gm__ uint32_t *o2,
                               __gm__ uint16_t *o3, __gm__ uint8_t *o4,
                               __gm__ int32_t *o5, __gm__ uint32_t *o6, __gm__ uint16_t *o7,
                               __gm__ half *o8, uint32_t b, uint8_t c, uint64_t d) {
#if defined(__DAV_VEC__)
    Tile<TileType::Vec, float, 1, 32> t0;
    TASSIGN(t0, 0);
    Tile<TileType::Vec, int32_t, 1, 32> t1;
    TASSIGN(t1, 128);
    Tile<TileType::Vec, uint32_t, 1, 32> t2;
    TASSIGN(t2, 256);
    Tile<TileType::Vec, uint16_t, 1, 32> t3;
    TASSIGN(t3, 384);
    Tile<TileType::Vec, uint8_t, 1, 32> t4;
    TASSIGN(t4, 512);
    Tile<TileType::Vec, int32_t, 1, 32> t5;
    TASSIGN(t5, 640);
    Tile<TileType::Vec, uint32_t, 1, 32> t6;
    TASSIGN(t6, 768);
    Tile<TileType::Vec, uint16_t, 1, 32> t7;
    TASSIGN(t7, 896);
    Tile<TileType::Vec, half, 1, 32> t8;
    TASSIGN(t8, 1024);
    TEXPANDS(t0, b);
    TEXPANDS(t1, c);
    TEXPANDS(t2, (uint32_t)4000000000);
    pipe_barrier(PIPE_V);
    TMAXS(t2, t2, 0xFFFFFFF0u);
    TEXPANDS(t3, (uint16_t)65535);
    TEXPANDS(t4, (uint8_t)200);
    TEXPANDS(t5, 2.75f);
    TEXPANDS(t6, d);
    TEXPANDS(t7, (int32_t)-2);
    TEXPANDS(t8, (uint16_t)60000);
    GlobalTensor<float, pto::Shape<1, 1, 1, 1, 32>, pto::Stride<32, 32, 32, 32, 1>, pto::Layout::ND> g0 =
        GlobalTensor<float, pto::Shape<1, 1, 1, 1, 32>, pto::Stride<32, 32, 32, 32, 1>, pto::Layout::ND>(o0);
    GlobalTensor<int32_t, pto::Shape<1, 1, 1, 1, 32>, pto::Stride<32, 32, 32, 32, 1>, pto::Layout::ND> g1 =
        GlobalTensor<int32_t, pto::Shape<1, 1, 1, 1, 32>, pto::Stride<32, 32, 32, 32, 1>, pto::Layout::ND>(o1);
    GlobalTensor<uint32_t, pto::Shape<1, 1, 1, 1, 32>, pto::Stride<32, 32, 32, 32, 1>, pto::Layout::ND> g2 =
        GlobalTensor<uint32_t, pto::Shape<1, 1, 1, 1, 32>, pto::Stride<32, 32, 32, 32, 1>, pto::Layout::ND>(o2);
    GlobalTensor<uint16_t, pto::Shape<1, 1, 1, 1, 32>, pto::Stride<32, 32, 32, 32, 1>, pto::Layout::ND> g3 =
        GlobalTensor<uint16_t, pto::Shape<1, 1, 1, 1, 32>, pto::Stride<32, 32, 32, 32, 1>, pto::Layout::ND>(o3);
    GlobalTensor<uint8_t, pto::Shape<1, 1, 1, 1, 32>, pto::Stride<32, 32, 32, 32, 1>, pto::Layout::ND> g4 =
        GlobalTensor<uint8_t, pto::Shape<1, 1, 1, 1, 32>, pto::Stride<32, 32, 32, 32, 1>, pto::Layout::ND>(o4);
    GlobalTensor<int32_t, pto::Shape<1, 1, 1, 1, 32>, pto::Stride<32, 32, 32, 32, 1>, pto::Layout::ND> g5 =
        GlobalTensor<int32_t, pto::Shape<1, 1, 1, 1, 32>, pto::Stride<32, 32, 32, 32, 1>, pto::Layout::ND>(o5);
    GlobalTensor<uint32_t, pto::Shape<1, 1, 1, 1, 32>, pto::Stride<32, 32, 32, 32, 1>, pto::Layout::ND> g6 =
        GlobalTensor<uint32_t, pto::Shape<1, 1, 1, 1, 32>, pto::Stride<32, 32, 32, 32, 1>, pto::Layout::ND>(o6);
    GlobalTensor<uint16_t, pto::Shape<1, 1, 1, 1, 32>, pto::Stride<32, 32, 32, 32, 1>, pto::Layout::ND> g7 =
        GlobalTensor<uint16_t, pto::Shape<1, 1, 1, 1, 32>, pto::Stride<32, 32, 32, 32, 1>, pto::Layout::ND>(o7);
    GlobalTensor<half, pto::Shape<1, 1, 1, 1, 32>, pto::Stride<32, 32, 32, 32, 1>, pto::Layout::ND> g8 =
        GlobalTensor<half, pto::Shape<1, 1, 1, 1, 32>, pto::Stride<32, 32, 32, 32, 1>, pto::Layout::ND>(o8);
    set_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
    wait_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
    TSTORE(g0, t0);
    TSTORE(g1, t1);
    TSTORE(g2, t2);
    TSTORE(g3, t3);
    TSTORE(g4, t4);
    TSTORE(g5, t5);
    TSTORE(g6, t6);
    TSTORE(g7, t7);
    TSTORE(g8, t8);
#endif
    return;
}
