# slipring check FILE
import slipring.language as pl
@pl.incore
def of_a_tile(x: pl.Tensor[[64, 64], pl.FP32], y: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
    e = pl.exp(x)
    y[:] = pl.slice(e, [64, 64], [0, 0])
