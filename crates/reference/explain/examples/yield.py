# slipring check FILE
import slipring.language as pl
@pl.incore
def too_many(x: pl.Tensor[[64, 64], pl.FP32], y: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
    t = pl.exp(x)
    for i, (a,) in pl.range(4, init_values=(t,)):
        b, c = pl.yield_(a + 1.0, a)
