# What constants fold to: Python's numbers, rounded down and compared exactly, and the ends of the types.
#
# args: zeros:i32[24] full:f32[1x8]=1 zeros:f32[1x8] zeros:i8[1x32] zeros:i8[1x32]
# test: run %s --verify
# out[0]: i32 -4 -4 3 -1 1 -2 9 2 0 1 -1 1 8 2147483647 -2147483648 1 1 3 0 -3 4*0
# out[2]: f32 8*2.5
# out[4]: i8 32*-128
import slipring.language as pl

LEAST = -9223372036854775808


@pl.incore
def f(
    n: pl.InOut[pl.Tensor[[24], pl.INT32]],
    x: pl.Tensor[[1, 8], pl.FP32],
    y: pl.Out[pl.Tensor[[1, 8], pl.FP32]],
    b: pl.Tensor[[1, 32], pl.INT8],
    c: pl.Out[pl.Tensor[[1, 32], pl.INT8]],
):
    n[0] = 7 // -2
    n[1] = -7 // 2
    n[2] = -7 // -2
    n[3] = 7 % -2
    n[4] = -7 % 2
    n[5] = -7 >> 2
    n[6] = int(1.0 // 0.1)
    n[7] = int(-1.0 % 3.0)
    n[8] = 5 >> 100000000000
    n[9] = 1**100000000000
    n[10] = (-1) ** 100000000001
    n[11] = LEAST // LEAST
    n[12] = int(2**-1 * 16)
    n[13] = (1 << 31) - 1
    n[14] = -(1 << 31)
    n[15] = 1 if 9007199254740993 > 9007199254740992.0 else 0
    n[16] = 1 if LEAST < -9.2e18 else 0
    n[17] = max(3, 2.5)
    n[18] = LEAST % -1
    n[19] = ~2
    y[:] = x * min(2.5, 3)
    c[:] = b + -128
