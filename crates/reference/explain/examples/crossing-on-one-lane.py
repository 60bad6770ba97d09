# slipring check FILE
import slipring.language as pl
@pl.incore
def f(a: pl.Tensor[[64, 64], pl.FP16], y: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
    c = pl.matmul(a, a)
    for lane in pl.split_aiv(2, mode=pl.SplitMode.UP_DOWN):
        if lane == 0:
            y[0:32, :] = pl.aiv_shard(c)
