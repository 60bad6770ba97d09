# slipring check FILE
import slipring.language as pl
@pl.incore
def membership(x: pl.Tensor[[64, 64], pl.FP32], y: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
    y[:] = 1.0 if x is y else 2.0
    y[:] = x if x else 2
