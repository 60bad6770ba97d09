# slipring check FILE
import slipring.language as pl
@pl.jit
def f(a: pl.Tensor[[15, 32], pl.BF16], b: pl.Tensor[[32, 32], pl.BF16], y: pl.Out[pl.Tensor[[15, 32], pl.FP32]]):
    with pl.at(level=pl.Level.CORE_GROUP, optimizations=[pl.split(pl.SplitMode.UP_DOWN)]):
        y[:] = pl.exp(pl.matmul(a, b))
