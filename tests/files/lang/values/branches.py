# Branches: what both arms bind, what one arm changes, chains, conditions that are known.
#
# args: iota:f32[1x8] 1:i32 zeros:f32[7x8]
# test: run %s --verify
# check: verify clean
# out[2]: f32 0 2 4 6 8 10 12 14  -0 -1 -2 -3 -4 -5 -6 -7  8*10  8*1  0 1 2 3 4 5 6 7  1 2 3 4 5 6 7 8  0 1 2 3 4 5 6 7
# test: run %s --verify --arg iota:f32[1x8] --arg 2:i32 --arg zeros:f32[7x8]
# out[2]: f32 1 2 3 4 5 6 7 8  0 1 2 3 4 5 6 7  8*20  8*1  0 1 2 3 4 5 6 7  0 1 2 3 4 5 6 7  1 2 3 4 5 6 7 8
# test: run %s --verify --arg iota:f32[1x8] --arg -7:i32 --arg zeros:f32[7x8]
# out[2]: f32 1 2 3 4 5 6 7 8  0 1 2 3 4 5 6 7  8*-7  8*1  0 1 2 3 4 5 6 7  0 1 2 3 4 5 6 7  1 2 3 4 5 6 7 8
import slipring.language as pl

FAST = True


@pl.incore
def f(a: pl.Tensor[[1, 8], pl.FP32], n: pl.Scalar[pl.INT32], c: pl.Out[pl.Tensor[[7, 8], pl.FP32]]):
    x = pl.load(a, [0, 0], [1, 8])
    if n == 1:
        y = x + x
    else:
        y = x + 1
    c[0:1, :] = y
    z = x
    if n > 0 and n < 2:
        z = -z
    c[1:2, :] = z
    if n == 1:
        k = 10.0
    elif n == 2:
        k = 20.0
    else:
        k = -7.0
    c[2:3, :] = pl.full([1, 8], pl.FP32, k)
    if FAST:
        w = 1.0
    else:
        w = pl.nothing_of_this_is_looked_at(x)
    c[3:4, :] = pl.full([1, 8], pl.FP32, w)
    # The branch rebinds `z`; `x`, which had the same tile, is what it was.
    c[4:5, :] = x
    # Two tiles are exchanged in one arm.
    p, q = x + 0, x + 1
    if n == 1:
        p, q = q, p
    c[5:6, :] = p
    c[6:7, :] = q
