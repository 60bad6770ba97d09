# Names that stand for one tile, and parts of it, see what is assigned to a part: in straight code, in loops, in branches and through
# calls. Names that were bound to the tile before it is rebound keep it.
#
# test: run %s --verify --arg iota:f32[1x16] --arg 3:i32 --arg zeros:f32[9x16]
# check: verify clean
# out[2]: f32 8*9 8 9 10 11 12 13 14 15 8*9 8*7 8*12 8*7 8*18 8*7 8*18 8*5 8*18 8*5 8*21 8*8 8*74 8*22 8 9 10 11 12 13 14 15 8 9 10 11 12 13 14 15
# test: run %s --arch a2a3 --verify --arg iota:f32[1x16] --arg 3:i32 --arg zeros:f32[9x16]
# check: verify clean
# out[2]: f32 8*9 8 9 10 11 12 13 14 15 8*9 8*7 8*12 8*7 8*18 8*7 8*18 8*5 8*18 8*5 8*21 8*8 8*74 8*22 8 9 10 11 12 13 14 15 8 9 10 11 12 13 14 15
# test: run %s --verify --arg iota:f32[1x16] --arg 0:i32 --arg zeros:f32[9x16]
# check: verify clean
# out[2]: f32 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 2 4 6 8 10 12 14 16 18 20 22 24 26 28 30 32 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15
# test: run %s --arch a2a3 --verify --arg iota:f32[1x16] --arg 0:i32 --arg zeros:f32[9x16]
# check: verify clean
# out[2]: f32 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 2 4 6 8 10 12 14 16 18 20 22 24 26 28 30 32 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15
# test: run %s --verify --arg iota:f32[1x16] --arg 1:i32 --arg zeros:f32[9x16]
# check: verify clean
# out[2]: f32 8*9 8 9 10 11 12 13 14 15 8*9 8 9 10 11 12 13 14 15 8*10 8 9 10 11 12 13 14 15 8*12 8 9 10 11 12 13 14 15 8*12 8*5 8*12 8*5 8*13 8*6 8*50 8*22 8 9 10 11 12 13 14 15 8 9 10 11 12 13 14 15
# test: run %s --arch a2a3 --verify --arg iota:f32[1x16] --arg 1:i32 --arg zeros:f32[9x16]
# check: verify clean
# out[2]: f32 8*9 8 9 10 11 12 13 14 15 8*9 8 9 10 11 12 13 14 15 8*10 8 9 10 11 12 13 14 15 8*12 8 9 10 11 12 13 14 15 8*12 8*5 8*12 8*5 8*13 8*6 8*50 8*22 8 9 10 11 12 13 14 15 8 9 10 11 12 13 14 15
import slipring.language as pl


@pl.inline
def change(p):
    p[:, 0:8] = p[:, 0:8] + 1.0


@pl.inline
def rebind(p):
    for i in pl.range(2):
        p = p + 1.0
    return p


@pl.incore
def f(
    x: pl.Tensor[[1, 16], pl.FP32],
    n: pl.Scalar[pl.INT32],
    y: pl.Out[pl.Tensor[[9, 16], pl.FP32]],
):
    t = pl.load(x, [0, 0], [1, 16])
    u = t
    for i in pl.range(n):
        t[:, 0:8] = pl.full([1, 8], pl.FP32, 9.0)
    y[0:1, :] = u
    if n > 1:
        u[:, 8:16] = pl.full([1, 8], pl.FP32, 7.0)
    y[1:2, :] = t
    for i in pl.range(n):
        change(t)
    y[2:3, :] = u
    v = t[:, 0:8]
    for i in pl.range(n):
        v[:] = v + 2.0
    y[3:4, :] = u
    for i in pl.range(n):
        t = pl.assemble(t, pl.full([1, 8], pl.FP32, 5.0), [0, 8])
    y[4:5, :] = u
    # Bound anew in a loop, in a branch and in a function: the other name keeps the old tile.
    for i in pl.range(n):
        t = t + 1.0
    y[5:6, :] = u
    y[6:7, :] = t
    if n > 0:
        u = u * 2.0
    y[7:8, :] = rebind(u) + u
    last = u
    for i in pl.range(n):
        last = pl.load(x, [0, 0], [1, 16])
        last[:, 0:8] = last[:, 8:16]
    y[8:9, :] = last
