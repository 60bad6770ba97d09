# slipring check FILE
import slipring.language as pl
@pl.incore
def in_the_other_arm(x: pl.Tensor[[64, 64], pl.FP32], y: pl.Out[pl.Tensor[[64, 64], pl.FP32]], n: pl.Scalar[pl.INT32]):
    first = pl.exp(x)
    if n > 0:
        first = pl.exp(first)
    y[:] = first
