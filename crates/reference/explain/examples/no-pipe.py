# slipring check FILE
import slipring.language as pl
@pl.incore
def h(x: pl.Tensor[[64, 64], pl.FP32], y: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
    y[:] = TPOP(shape=[64, 64], dtype=pl.FP32)
