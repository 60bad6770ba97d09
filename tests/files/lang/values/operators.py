# Operators on tiles and numbers, either side: each is the op of its name.
#
# args: iota:f32[1x8] full:f32[1x8]=2 zeros:f32[12x8]
# test: run %s --verify
# check: verify clean
# out[2]: f32 2 3 4 5 6 7 8 9  -2 -1 0 1 2 3 4 5  0 2 4 6 8 10 12 14  0 0.5 1 1.5 2 2.5 3 3.5  10 11 12 13 14 15 16 17  10 9 8 7 6 5 4 3  0 3 6 9 12 15 18 21  -3 -2 -1 0 1 2 3 4  0 0.25 0.5 0.75 1 1.25 1.5 1.75  -0 -1 -2 -3 -4 -5 -6 -7  4 2 1 0.5 0.25 0.125 0.0625 0.03125  1 3 5 7 9 11 13 15
import slipring.language as pl


@pl.incore
def f(a: pl.Tensor[[1, 8], pl.FP32], b: pl.Tensor[[1, 8], pl.FP32], c: pl.Out[pl.Tensor[[12, 8], pl.FP32]]):
    x = pl.load(a, [0, 0], [1, 8])
    c[0:1, :] = x + b
    c[1:2, :] = a - b
    c[2:3, :] = x * b
    c[3:4, :] = x / b
    c[4:5, :] = 10 + x
    c[5:6, :] = 10.0 - x
    c[6:7, :] = 3 * x
    c[7:8, :] = x - 3
    c[8:9, :] = x / 4
    c[9:10, :] = -x
    powers = pl.full([1, 8], pl.FP32, 1.0)
    for i in pl.unroll(7):
        step = pl.maximum(pl.minimum(x - i, 1.0), 0.0)
        powers = powers * (step + 1)
    c[10:11, :] = 4 / powers
    x += x
    c[11:12, :] = x + 1
