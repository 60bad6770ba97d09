# slipring check FILE
import slipring.language as pl
@pl.incore
def f(x: pl.Tensor[[16, 4], pl.FP32], y: pl.Out[pl.Tensor[[4, 16], pl.FP32]]):
    e = pl.exp(x)
    y[:] = pl.reshape(e, [4, 16])
