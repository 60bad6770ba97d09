# slipring check FILE
import slipring.language as pl
@pl.incore
def by_name(x: pl.Tensor[[64, 64], pl.FP32], y: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
    for lane in pl.split_aiv(n=4, mode=pl.SplitMode.UP_DOWN):
        y[lane * 32 : lane * 32 + 32, :] = x[lane * 32 : lane * 32 + 32, :]
