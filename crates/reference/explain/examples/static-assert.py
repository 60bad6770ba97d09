# slipring check FILE
import slipring.language as pl
ROWS = 60
@pl.incore
def f(x: pl.Tensor[[ROWS, 64], pl.FP32], y: pl.Out[pl.Tensor[[ROWS, 64], pl.FP32]]):
    pl.static_assert(ROWS % 16 == 0, "ROWS must be a multiple of 16")
