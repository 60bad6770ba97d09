// test: run %s --arch a5 --arg zeros:i32[4] --arg 5:i32
// out[0]: i32 15 32 12 3
// test: run %s --arch a2a3 --arg zeros:i32[4] --arg 0:i32
// out[0]: i32 0 1 12 2
//
// A loop with a condition of its own is labels and jumps in the assembler's C++, and `while` in that of people. 5 + 4 + 3 + 2 + 1 is 15;
// 2^5 is 32; 12 = 3 * 4 of a loop in a loop; 3 (or 2, as 0 is even at once) tells by which way the last loop was left.

#define __aicore__ [aicore]
#define __gm__

static __aicore__ int32_t twice(int32_t v1) {
    const int32_t v2 = 2;
    return (int32_t)((uint32_t)v1 * (uint32_t)v2);
}

__global__ __aicore__ void sums(__gm__ int32_t *v1, int32_t v2) {
    const int32_t v3 = 0;
    const int32_t v4 = 1;
    const bool v5 = true;
    int32_t v6;
    int32_t v7;
    bool v8;
    int32_t v9;
    int32_t v10;
    int32_t v20;
    bool v21;
    v6 = v2;
    v7 = v3;
    goto label2;
label2:
    v8 = v6 > v3;
    if (v8) {
        goto label3;
    } else {
        goto label4;
    }
label3:
    v7 = (int32_t)((uint32_t)v7 + (uint32_t)v6);
    v6 = (int32_t)((uint32_t)v6 - (uint32_t)v4);
    goto label2;
label4:
    v1[0] = v7;
    int32_t v11 = v2;
    int32_t v12 = v4;
    while (v11 > v3) {
        v12 = twice(v12);
        v11 -= v4;
    }
    v1[1] = v12;
    v9 = v3;
    v10 = v3;
    goto label5;
label5:
    if (v9 < 3) {
        goto label6;
    } else {
        goto label7;
    }
label6:
    v20 = v3;
    goto label8;
label8:
    v21 = v20 < 4;
    if (v21) {
        goto label9;
    } else {
        goto label10;
    }
label9:
    v10 = (int32_t)((uint32_t)v10 + (uint32_t)v4);
    v20 = (int32_t)((uint32_t)v20 + (uint32_t)v4);
    goto label8;
label10:
    v9 = (int32_t)((uint32_t)v9 + (uint32_t)v4);
    goto label5;
label7:
    v1[2] = v10;
    v1[3] = v2 % 2 == 0 ? 2 : 3;
    return;
}
