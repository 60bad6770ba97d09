// test: run %s --arch a2a3 --arg full:f32[8x64]=1.5 --arg full:f32[8x64]=2 --arg zeros:f32[8x64]
// check: race clean
// check: scope all schedules
// out[2]: f32 512*3.5
// test: run %s --arch a2a3 --verify --arg full:f32[8x64]=1.5 --arg full:f32[8x64]=2 --arg zeros:f32[8x64]
// check: verify clean
// test: prove %s --arch a2a3 --arg full:f32[8x64]=1.5 --arg full:f32[8x64]=2 --arg zeros:f32[8x64]
// check: proved
//
// The form that the public assembler writes: addresses and flags are in the text, and nothing is added to it.

#include <pto/pto-inst.hpp>

#ifndef __gm__
#define __gm__
#endif

#if defined(__CPU_SIM)
#define __aicore__
#else
#define __aicore__ [aicore]
#endif

using namespace pto;

static __aicore__ void add(__gm__ float *v1, __gm__ float *v2, __gm__ float *v3) {
    const int64_t v4 = 8;
    const int64_t v5 = 64;
    const int64_t v6 = 0;
    const int64_t v7 = 2048;
    using T = float;

#if defined(__DAV_VEC__)
    set_mask_norm();
    set_vector_mask(-1, -1);
    Tile<TileType::Vec, float, 8, 64, BLayout::RowMajor, -1, -1, SLayout::NoneBox, 512, PadValue::Null, CompactMode::Null>
        v8 = Tile<TileType::Vec, float, 8, 64, BLayout::RowMajor, -1, -1, SLayout::NoneBox, 512, PadValue::Null,
                  CompactMode::Null>(v4, v5);
    uint64_t v9 = (uint64_t)v6;
    TASSIGN(v8, v9);
    Tile<TileType::Vec, float, 8, 64> v10;
    uint64_t v11 = (uint64_t)v7;
    TASSIGN(v10, v11);
    pto::Shape<1, 1, 1, 8, 64> v12 = pto::Shape<1, 1, 1, 8, 64>();
    pto::Stride<512, 512, 512, 64, 1> v13 = pto::Stride<512, 512, 512, 64, 1>();
    GlobalTensor<float, pto::Shape<1, 1, 1, 8, 64>, pto::Stride<512, 512, 512, 64, 1>, pto::Layout::ND> v14 =
        GlobalTensor<float, pto::Shape<1, 1, 1, 8, 64>, pto::Stride<512, 512, 512, 64, 1>, pto::Layout::ND>(
            v1 + (v6 + v6 * v5), v12, v13);
    GlobalTensor<float, pto::Shape<1, 1, 1, 8, 64>, pto::Stride<512, 512, 512, 64, 1>, pto::Layout::ND> v15 =
        GlobalTensor<float, pto::Shape<1, 1, 1, 8, 64>, pto::Stride<512, 512, 512, 64, 1>, pto::Layout::ND>(v2, v12, v13);
    GlobalTensor<float, pto::Shape<1, 1, 1, 8, 64>, pto::Stride<512, 512, 512, 64, 1>, pto::Layout::ND> v16 =
        GlobalTensor<float, pto::Shape<1, 1, 1, 8, 64>, pto::Stride<512, 512, 512, 64, 1>, pto::Layout::ND>(v3, v12, v13);
    TLOAD(v8, v14);
    TLOAD(v10, v15);
    set_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
    wait_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
    TADD(v10, v8, v10);
    set_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
    wait_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
    TSTORE(v16, v10);
#endif  // __DAV_VEC__

    pipe_barrier(PIPE_ALL);
    return;
}
