# slipring check FILE
import slipring.language as pl
@pl.incore
def f(a: pl.Tensor[[64, 64], pl.FP16], y: pl.Out[pl.Tensor[[64, 64], pl.FP32]], z: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
    c = pl.matmul(a, a)
    for lane in pl.split_aiv(2, mode=pl.SplitMode.UP_DOWN):
        y[lane * 32 : lane * 32 + 32, :] = pl.aiv_shard(c)
    for lane in pl.split_aiv(2, mode=pl.SplitMode.NONE):
        row = lane * 32
        z[row : row + 32, :] = pl.aiv_shard(c)[row : row + 32, :]
