# slipring check FILE
import slipring.language as pl
@pl.incore
def moved_to_it(a: pl.Tensor[[64, 64], pl.FP16], y: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
    c = pl.matmul(a, a)
    for lane in pl.split_aiv(2, mode=pl.SplitMode.UP_DOWN):
        half = pl.move(pl.exp(pl.aiv_shard(c)), pl.Mem.Mat)
