# Names of one tile that are bound anew before it matters: by a loop that runs, or before they are read again.
#
# test: run %s --verify --arg full:f32[2x16]=1 --arg 3:i32 --arg zeros:f32[4x16]
# check: verify clean
# out[2]: f32 8*5.5 8*10 16*5 8*5 8*1 8*5 8*1
# test: run %s --arch a2a3 --verify --arg full:f32[2x16]=1 --arg 3:i32 --arg zeros:f32[4x16]
# check: verify clean
# out[2]: f32 8*5.5 8*10 16*5 8*5 8*1 8*5 8*1
# test: run %s --verify --arg full:f32[2x16]=1 --arg 0:i32 --arg zeros:f32[4x16]
# check: verify clean
# out[2]: f32 8*5.5 8*10 16*5 16*1 16*2
import slipring.language as pl


@pl.incore
def f(x: pl.Tensor[[2, 16], pl.FP32], n: pl.Scalar[pl.INT32], y: pl.Out[pl.Tensor[[4, 16], pl.FP32]]):
    a = pl.load(x, [0, 0], [1, 16])
    b = a
    for i in pl.range(2):
        b = a + 1.0
        a = b * 2.0
    a[:, 0:8] = b[:, 0:8] + 0.5
    y[0:1, :] = a
    y[1:2, :] = b
    t = pl.load(x, [1, 0], [1, 16])
    u = t * 2.0
    for i in pl.range(n):
        t[:, 0:8] = u[:, 0:8] + 1.0
        u = t
    y[2:3, :] = t
    y[3:4, :] = u
