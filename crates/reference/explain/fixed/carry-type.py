# slipring check FILE
import slipring.language as pl
@pl.incore
def kind(x: pl.Tensor[[64, 64], pl.FP32], y: pl.Out[pl.Tensor[[64, 64], pl.FP32]], n: pl.Scalar[pl.INT32]):
    t = pl.load(x, [0, 0], [64, 64])
    for i in pl.range(n):
        y[:] = t
        t = pl.full([64, 64], pl.FP32, 3.0)
