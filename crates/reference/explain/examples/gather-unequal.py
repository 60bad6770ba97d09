# slipring check FILE
import slipring.language as pl
@pl.incore
def f(x: pl.Tensor[[128, 64], pl.FP32], v: pl.Tensor[[64, 64], pl.FP32], y: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
    for lane in pl.split_aiv(2, mode=pl.SplitMode.NONE):
        half = pl.load(x, [lane * 64, 0], [64, 64])
        whole = pl.aic_gather(half * 2.0)
    y[:] = pl.matmul(whole, v)
