# What a name stands for after a branch: windows at other offsets, a window or a tile, one that only one arm binds anew.
#
# test: run %s --verify --arg iota:f32[4x8] --arg 1:i32 --arg zeros:f32[9x8]
# check: verify clean
# out[2]: f32 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31 24 25 26 27 28 29 30 31 9 10 11 12 13 14 15 16 9*0 1 2 3 4 5 6 7 24 25 26 27 28 29 30 31 48 51 54 57 60 63 66 69 9 10 11 12 13 14 15 16
# test: run %s --arch a2a3 --verify --arg iota:f32[4x8] --arg 1:i32 --arg zeros:f32[9x8]
# check: verify clean
# out[2]: f32 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31 24 25 26 27 28 29 30 31 9 10 11 12 13 14 15 16 9*0 1 2 3 4 5 6 7 24 25 26 27 28 29 30 31 48 51 54 57 60 63 66 69 9 10 11 12 13 14 15 16
# test: run %s --verify --arg iota:f32[4x8] --arg 0:i32 --arg zeros:f32[9x8]
# check: verify clean
# out[2]: f32 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 8 9 10 11 12 13 14 15 8 9 10 11 12 13 14 15 0 1 2 3 4 5 6 7 8*0 24 26 28 30 32 34 36 38 24 25 26 27 28 29 30 31 0 1 2 3 4 5 6 7
# test: run %s --arch a2a3 --verify --arg iota:f32[4x8] --arg 0:i32 --arg zeros:f32[9x8]
# check: verify clean
# out[2]: f32 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 8 9 10 11 12 13 14 15 8 9 10 11 12 13 14 15 0 1 2 3 4 5 6 7 8*0 24 26 28 30 32 34 36 38 24 25 26 27 28 29 30 31 0 1 2 3 4 5 6 7
# test: run %s --verify --arg iota:f32[4x8] --arg 2:i32 --arg zeros:f32[9x8]
# check: verify clean
# out[2]: f32 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31 40 42 44 46 48 50 52 54 9 10 11 12 13 14 15 16 9*0 1 2 3 4 5 6 7 72 76 80 84 88 92 96 100 24 25 26 27 28 29 30 31 9 10 11 12 13 14 15 16
# test: run %s --arch a2a3 --verify --arg iota:f32[4x8] --arg 2:i32 --arg zeros:f32[9x8]
# check: verify clean
# out[2]: f32 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31 40 42 44 46 48 50 52 54 9 10 11 12 13 14 15 16 9*0 1 2 3 4 5 6 7 72 76 80 84 88 92 96 100 24 25 26 27 28 29 30 31 9 10 11 12 13 14 15 16
import slipring.language as pl


@pl.incore
def f(
    x: pl.Tensor[[4, 8], pl.FP32],
    n: pl.Scalar[pl.INT32],
    y: pl.Out[pl.Tensor[[9, 8], pl.FP32]],
):
    t = x[0:1, :]
    if n > 0:
        t = x[2:3, :]
    y[0:1, :] = t * 1.0
    if n > 0:
        u = x[3:4, :]
    else:
        u = x[n + 1 : n + 2, :]
    y[1:2, :] = u
    if n > 1:
        u = u + t
    y[2:3, :] = u
    if n > 0:
        v = x[1:2, :] + 1.0
    elif n > -2:
        v = x[1:2, :]
    else:
        v = u
    y[3:4, :] = v
    # Where something is stored to.
    out = y[4:5, :]
    if n > 0:
        out = y[5:6, :]
    out[:] = x[0:1, :]
    # Values that change places in some iterations.
    a, b = x[0:1, :], x[3:4, :]
    for i in pl.range(3):
        if i > n:
            a, b = b, a
        else:
            a = a + b
    y[6:7, :] = a
    y[7:8, :] = b
    p = (x[0:1, :], 1)
    if n > 0:
        p = (x[1:2, :] + 1.0, 2)
    y[8:9, :] = p[0]
