# slipring check FILE
import slipring.language as pl
@pl.incore
def factor(x: pl.Tensor[[64, 64], pl.INT32], y: pl.Out[pl.Tensor[[64, 64], pl.FP32]], s: pl.Scalar[pl.FP32]):
    y[:] = pl.cast(x * s, pl.FP32)
