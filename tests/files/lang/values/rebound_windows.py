# A name that stands for a window of a tensor is rebound in a loop: to a tile, to another window, to another tensor.
#
# test: run %s --verify --arg iota:f32[4x8] --arg iota:f32[1x8] --arg 3:i32 --arg zeros:f32[12x8]
# check: verify clean
# out[3]: f32 3 4 5 6 7 8 9 10 256 288 320 352 384 416 448 480 19 21 23 25 27 29 31 33 24 25 26 27 28 29 30 31 0 1 2 3 4 5 6 7 408 509 610 711 812 913 1014 1115 0 1 2 3 4 5 6 7 56 62 68 74 80 86 92 98 24 25 26 27 28 29 30 31 16 17 18 19 20 21 22 23 16 19 22 25 28 31 34 37 0 7 14 21 28 35 42 49
# test: run %s --arch a2a3 --verify --arg iota:f32[4x8] --arg iota:f32[1x8] --arg 3:i32 --arg zeros:f32[12x8]
# check: verify clean
# out[3]: f32 3 4 5 6 7 8 9 10 256 288 320 352 384 416 448 480 19 21 23 25 27 29 31 33 24 25 26 27 28 29 30 31 0 1 2 3 4 5 6 7 408 509 610 711 812 913 1014 1115 0 1 2 3 4 5 6 7 56 62 68 74 80 86 92 98 24 25 26 27 28 29 30 31 16 17 18 19 20 21 22 23 16 19 22 25 28 31 34 37 0 7 14 21 28 35 42 49
# test: run %s --verify --arg iota:f32[4x8] --arg iota:f32[1x8] --arg 0:i32 --arg zeros:f32[12x8]
# check: verify clean
# out[3]: f32 0 1 2 3 4 5 6 7 256 288 320 352 384 416 448 480 19 21 23 25 27 29 31 33 0 1 2 3 4 5 6 7 24 25 26 27 28 29 30 31 408 509 610 711 812 913 1014 1115 0 1 2 3 4 5 6 7 9*0 1 2 3 4 5 6 7 24 25 26 27 28 29 30 31 0 1 2 3 4 5 6 7 0 7 14 21 28 35 42 49
# test: run %s --arch a2a3 --verify --arg iota:f32[4x8] --arg iota:f32[1x8] --arg 0:i32 --arg zeros:f32[12x8]
# check: verify clean
# out[3]: f32 0 1 2 3 4 5 6 7 256 288 320 352 384 416 448 480 19 21 23 25 27 29 31 33 0 1 2 3 4 5 6 7 24 25 26 27 28 29 30 31 408 509 610 711 812 913 1014 1115 0 1 2 3 4 5 6 7 9*0 1 2 3 4 5 6 7 24 25 26 27 28 29 30 31 0 1 2 3 4 5 6 7 0 7 14 21 28 35 42 49
# test: run %s --verify --arg iota:f32[4x8] --arg iota:f32[1x8] --arg 2:i32 --arg zeros:f32[12x8]
# check: verify clean
# out[3]: f32 2 3 4 5 6 7 8 9 256 288 320 352 384 416 448 480 19 21 23 25 27 29 31 33 0 1 2 3 4 5 6 7 24 25 26 27 28 29 30 31 408 509 610 711 812 913 1014 1115 0 1 2 3 4 5 6 7 32 36 40 44 48 52 56 60 16 17 18 19 20 21 22 23 8 9 10 11 12 13 14 15 8 10 12 14 16 18 20 22 0 7 14 21 28 35 42 49
# test: run %s --arch a2a3 --verify --arg iota:f32[4x8] --arg iota:f32[1x8] --arg 2:i32 --arg zeros:f32[12x8]
# check: verify clean
# out[3]: f32 2 3 4 5 6 7 8 9 256 288 320 352 384 416 448 480 19 21 23 25 27 29 31 33 0 1 2 3 4 5 6 7 24 25 26 27 28 29 30 31 408 509 610 711 812 913 1014 1115 0 1 2 3 4 5 6 7 32 36 40 44 48 52 56 60 16 17 18 19 20 21 22 23 8 9 10 11 12 13 14 15 8 10 12 14 16 18 20 22 0 7 14 21 28 35 42 49
import slipring.language as pl


@pl.inline
def thrice(p):
    for i in range(3):
        p = p + 1.0
    return p


@pl.incore
def f(
    x: pl.Tensor[[4, 8], pl.FP32],
    z: pl.Tensor[[1, 8], pl.FP32],
    n: pl.Scalar[pl.INT32],
    y: pl.Out[pl.Tensor[[12, 8], pl.FP32]],
):
    # A window that becomes a tile.
    t = x[0:1, :]
    for i in pl.range(n):
        t = t + 1.0
    y[0:1, :] = t
    t = x[1:2, :]
    for i in pl.pipeline(5, stage=2):
        t = t * 2.0
    y[1:2, :] = t
    y[2:3, :] = thrice(x[1:2, :]) + x[1:2, :]
    # Windows of one tensor that change places.
    s, d = x[0:1, :], x[3:4, :]
    for i in pl.range(n):
        s, d = d, s
    y[3:4, :] = s
    y[4:5, :] = d
    # Tensors that change places, and a carried tile beside them.
    s, d = x[1:2, :], z
    total = pl.full([1, 8], pl.FP32, 0.0)
    for i in pl.range(101):
        total = total + s
        s, d = d, s
    y[5:6, :] = total
    y[6:7, :] = s
    # A window that goes on from row to row, and a tile that becomes a window.
    w = x[0:1, :]
    u = pl.load(x, [3, 0], [1, 8])
    total = pl.full([1, 8], pl.FP32, 0.0)
    for i in pl.range(n):
        total = total + w + u
        w = x[i + 1 : i + 2, :]
        u = x[i : i + 1, :]
    y[7:8, :] = total
    y[8:9, :] = w
    y[9:10, :] = u
    # Several values under one name.
    p = (x[0:1, :], x[1:2, :])
    for i in pl.range(n):
        p = (p[1], p[0] + p[1])
    y[10:11, :] = p[0]
    # The last value of a counter.
    for i in pl.range(1, 8, 3):
        pass
    y[11:12, :] = x[0:1, :] * i
