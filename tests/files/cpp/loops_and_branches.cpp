// test: run %s --arch a5 --arg iota:i32[16] --arg zeros:i32[16] --arg 5:i64
// out[1]: i32 0 2 4 3 4 5 6 7 8 9 10 11 12 13 14 120
// test: run %s --arch a2a3 --arg iota:i32[16] --arg zeros:i32[16] --arg 0:i64
// out[1]: i32 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 120
//
// What branches and loops assign is what they give; numbers are those of C++: `%` and `/` towards zero, bits without a sign.

#define __aicore__ [aicore]
#define __gm__

__global__ __aicore__ void count(__gm__ int32_t *v1, __gm__ int32_t *v2, int64_t v3) {
    const int64_t v4 = 0;
    const int64_t v5 = 16;
    int32_t v6 = 0;
    int64_t v7;
    int32_t v8[2];
    v8[v4] = 0;
    for (int64_t i9 = v4; i9 < v5; i9 += 1) {
        int32_t v10 = (v1)[i9];
        v6 = (int32_t)((uint32_t)v6 + (uint32_t)v10);
        int64_t v11 = (int64_t)((uint64_t)v3 - (uint64_t)i9);
        if ((int64_t)v10 < v3 && v11 % 7 > 2) {
            v7 = (int64_t)v10 * 2;
        } else {
            v7 = v10;
        }
        v8[v4] = v6;
        if (i9 == 15) {
            v7 = v8[0];
        }
        v2[i9] = v7;
    }
    return;
}
