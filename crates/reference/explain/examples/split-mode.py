# slipring check FILE
import slipring.language as pl
@pl.incore
def no_mode(a: pl.Tensor[[64, 64], pl.FP16], y: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
    for lane in pl.split_aiv(2, mode="UP_DOWN"):
        y[lane * 32 : lane * 32 + 32, :] = pl.aiv_shard(c)
