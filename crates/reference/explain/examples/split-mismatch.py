# slipring check FILE
import slipring.language as pl
@pl.incore
def f(a: pl.Tensor[[64, 64], pl.FP16], v: pl.Tensor[[128, 64], pl.FP32], y: pl.Out[pl.Tensor[[32, 64], pl.FP32]]):
    c = pl.matmul(a, a)
    for lane in pl.split_aiv(2):
        half = pl.exp(pl.aiv_shard(c, pl.SplitMode.UP_DOWN))
        whole = pl.aic_gather(half, pl.SplitMode.LEFT_RIGHT)
    y[:] = pl.matmul(whole, v)
