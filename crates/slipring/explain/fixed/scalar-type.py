# slipring check FILE
import slipring.language as pl
@pl.incore
def factor(x: pl.Tensor[[64, 64], pl.FP32], y: pl.Out[pl.Tensor[[64, 64], pl.FP32]], n: pl.Scalar[pl.INT32]):
    y[:] = x * pl.cast(n, pl.FP32)
