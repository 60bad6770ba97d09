# slipring check FILE
import slipring.language as pl
@pl.incore
def transfer(a: pl.Tensor[[64, 64], pl.FP16], y: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
    c = pl.matmul(a, a)
    for lane in pl.split_aiv(2):
        y[lane * 32 : lane * 32 + 32, :] = pl.aiv_shard(c, mode=pl.SplitMode.UP_DOWN)
