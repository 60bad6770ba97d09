# slipring check FILE
import slipring.language as pl
@pl.incore
def before(x: pl.Tensor[[2, 16], pl.FP32], y: pl.Out[pl.Tensor[[2, 16], pl.FP32]]):
    y[:] = y[:] + x
