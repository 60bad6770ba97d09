# slipring check FILE
import slipring.language as pl
@pl.incore
def no_list(x: pl.Tensor[[64, 64], pl.FP32], y: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
    with pl.at(level=pl.Level.CORE_GROUP, optimizations=pl.split(pl.SplitMode.UP_DOWN)):
        y[32:64, :] = x[32:64, :]
