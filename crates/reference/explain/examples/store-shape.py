# slipring check FILE
import slipring.language as pl
@pl.incore
def number(y: pl.Out[pl.Tensor[[1, 64], pl.FP32]]):
    y[0, :] = 1.0
