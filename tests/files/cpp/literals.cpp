// test: run %s --arch a2a3 --arg zeros:i32[1] --arg zeros:i64[12]
// out[1]: i64 2147483649 0 4 -1 4294967294 -256 1 4294967295 -2147483648 -1 0 18
//
// The type of a literal is the first that holds it: one with `u` is unsigned, and only in base 16 does its size make it so.
// The values are those of a C++ compiler.

#define __aicore__ [aicore]
#define __gm__

__global__ __aicore__ void literals(__gm__ int32_t *v1, __gm__ int64_t *v2) {
    int32_t v3 = (v1)[0];
    uint32_t v4 = (uint32_t)v3 + 4294967295u;
    int64_t v5 = (int64_t)v3 - 1125899906842624;
    uint8_t v6 = (uint8_t)(v3 + 255);
    bool v7 = v3 == 0;
    (v2)[0] = (int64_t)(2147483648u - v4);
    (v2)[1] = (int64_t)(v5 > 4294967295u);
    (v2)[2] = (int64_t)((v3 + 2) * 4294967295u / (uint32_t)(v3 + 1073741823));
    (v2)[3] = (int64_t)(2147483648 - 2147483649);
    (v2)[4] = (int64_t)(0xffffffff - 1);
    (v2)[5] = (int64_t)(~v6);
    (v2)[6] = (int64_t)(-1 < v6);
    (v2)[7] = (int64_t)(-1u);
    (v2)[8] = (int64_t)(-2147483648);
    (v2)[9] = (int64_t)(-v7);
    (v2)[10] = (int64_t)(0x80000000 > v3 - 2147483647);
    (v2)[11] = (int64_t)(+v6 % 79ul);
    return;
}
