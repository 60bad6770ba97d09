# slipring check FILE
import slipring.language as pl
@pl.incore
def columns(a: pl.Tensor[[64, 64], pl.FP16], y: pl.Out[pl.Tensor[[128, 32], pl.FP32]]):
    c = pl.matmul(a, a)
    for lane in pl.split_aiv(2, mode=pl.SplitMode.LEFT_RIGHT):
        half = pl.exp(pl.aiv_shard(c))
        y[lane * 64 : lane * 64 + 64, :] = half
