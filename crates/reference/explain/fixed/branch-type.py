# slipring check FILE
import slipring.language as pl
@pl.incore
def f(x: pl.Tensor[[64, 64], pl.FP32], y: pl.Out[pl.Tensor[[64, 64], pl.FP32]], n: pl.Scalar[pl.INT32]):
    if n > 0:
        value = pl.exp(x)
    else:
        value = pl.full([64, 64], pl.FP32, 3.0)
    y[:] = value
