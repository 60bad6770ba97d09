# slipring check FILE
import slipring.language as pl
@pl.incore
def f(x: pl.Tensor[[64, 64], pl.FP32], y: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
    t: pl.Tile[[32, 64], pl.FP32] = pl.exp(x)
