# Tiles that change places in a branch are still two tiles, and may be written in part.
#
# args: iota:f32[2x8] 1:i32 zeros:f32[4x8]
# test: run %s --verify
# check: verify clean
# out[2]: f32 1001 1002 1003 1004 1005 1006 1007 1008 9 10 11 12 13 14 15 16 500 501 502 503 504 505 506 507 8 9 10 11 12 13 14 15
import slipring.language as pl


@pl.incore
def f(x: pl.Tensor[[2, 8], pl.FP32], n: pl.Scalar[pl.INT32], y: pl.Out[pl.Tensor[[4, 8], pl.FP32]]):
    t1 = pl.load(x, [0, 0], [2, 8])
    t2 = t1 + 1.0
    if n == 1:
        t1, t2 = t2, t1
    t1[0:1, :] = t1[0:1, :] + 1000.0
    t2[0:1, :] = t2[0:1, :] + 500.0
    y[0:2, :] = t1
    y[2:4, :] = t2
