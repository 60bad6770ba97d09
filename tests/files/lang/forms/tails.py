# Slices end where their tensor does: 5 rows in parts of 2, 11 columns in parts of 4. What is there is the valid shape.
#
# args: iota:f32[5x11] zeros:f32[5x11] zeros:f32[5x1] zeros:f32[11]
# platforms: a5, a2a3
# test: run %s --verify
# check: verify clean
# out[1]: f32 0 2 4 6 8 10 12 14 16 18 20 22 24 26 28 30 32 34 36 38 40 42 44 46 48 50 52 54 56 58 60 62 64 66 68 70 72 74 76 78 80 82 84 86 88 90 92 94 96 98 100 102 104 106 108
# out[2]: f32 10 21 32 43 54
# out[3]: f32 1 2 3 4 5 6 7 8 9 10 11
import slipring.language as pl


@pl.incore
def f(
    x: pl.Tensor[[5, 11], pl.FP32],
    twice: pl.Out[pl.Tensor[[5, 11], pl.FP32]],
    most: pl.Out[pl.Tensor[[5, 1], pl.FP32]],
    line: pl.Out[pl.Tensor[[11], pl.FP32]],
):
    for i in pl.range(0, 5, 2):
        for j in pl.range(0, 11, 4):
            twice[i : i + 2, j : j + 4] = x[i : i + 2, j : j + 4] + x[i : i + 2, j : j + 4]
        most[i : i + 2, :] = pl.row_max(x[i : i + 2, :])
    for j in pl.range(0, 11, 4):
        line[j : j + 4] = x[0, j : j + 4] + 1.0
