# slipring check FILE
import slipring.language as pl
@pl.incore
def rows_of_half_the_columns(a: pl.Tensor[[64, 64], pl.FP16], y: pl.Out[pl.Tensor[[64, 2], pl.FP32]]):
    c = pl.matmul(a, a)
    for lane in pl.split_aiv(2, mode=pl.SplitMode.LEFT_RIGHT):
        e = pl.exp(pl.aiv_shard(c))
        y[:, lane : lane + 1] = pl.row_max(e * 2.0)
