# Scalar parameters: a factor, a number of rounds, an offset and a condition.
#
# args: iota:f32[4x8] 0.5:f32 3:i32 2:index true zeros:f32[4x8]
# test: run %s --verify
# check: verify clean
# out[5]: f32 8*0 8*0 25.5 27 28.5 30 31.5 33 34.5 36 8*0
# test: run %s --verify --arg iota:f32[4x8] --arg 2:f32 --arg 1:i32 --arg 0:index --arg false --arg full:f32[4x8]=7
# out[5]: f32 -0 -2 -4 -6 -8 -10 -12 -14 24*7
import slipring.language as pl


@pl.incore
def f(
    a: pl.Tensor[[4, 8], pl.FP32],
    factor: pl.Scalar[pl.FP32],
    rounds: pl.Scalar[pl.INT32],
    row: pl.Scalar[pl.INDEX],
    positive: pl.Scalar[pl.BOOL],
    c: pl.InOut[pl.Tensor[[4, 8], pl.FP32]],
):
    x = a[row : row + 1, :] * factor
    total = pl.full([1, 8], pl.FP32, 0.0)
    for i in pl.range(rounds):
        total = total + x
    if positive:
        c[row : row + 1, :] = total + 1.5
    else:
        c[row : row + 1, :] = -total
