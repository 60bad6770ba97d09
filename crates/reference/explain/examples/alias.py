# slipring check FILE
import slipring.language as pl
@pl.incore
def next_iteration(x: pl.Tensor[[2, 8], pl.FP32], y: pl.Out[pl.Tensor[[2, 8], pl.FP32]], n: pl.Scalar[pl.INT32]):
    t = pl.load(x, [0, 0], [2, 8])
    u = x + 1.0
    for i in pl.range(n):
        t[0:1, :] = pl.full([1, 8], pl.FP32, 9.0)
        t = u
