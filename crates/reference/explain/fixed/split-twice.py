# slipring check FILE
import slipring.language as pl
@pl.incore
def even_as_none(x: pl.Tensor[[64, 64], pl.FP32], y: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
    with pl.at(level=pl.Level.CORE_GROUP):
        for lane in pl.split_aiv(2, mode=pl.SplitMode.UP_DOWN):
            y[lane * 32 : lane * 32 + 32, :] = x[lane * 32 : lane * 32 + 32, :]
