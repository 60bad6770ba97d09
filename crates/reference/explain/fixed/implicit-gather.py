# slipring check FILE
import slipring.language as pl
@pl.incore
def of_whole_tiles(a: pl.Tensor[[64, 64], pl.FP16], y: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
    for lane in pl.split_aiv(2, mode=pl.SplitMode.NONE):
        twice = pl.aic_gather(a[:, :] + a[:, :])
    y[:] = pl.matmul(twice, a)
