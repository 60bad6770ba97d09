# A reduction along the divided axis would give each lane a part of the result.
#
# test: check %s
# exit: 2
import slipring.language as pl


@pl.incore
def columns_of_half_the_rows(a: pl.Tensor[[64, 64], pl.FP16], y: pl.Out[pl.Tensor[[2, 64], pl.FP32]]):
    c = pl.matmul(a, a)
    for lane in pl.split_aiv(2, mode=pl.SplitMode.UP_DOWN):
        # error: split-reduce `tcolsum` combines rows, of which each lane has half
        y[lane : lane + 1, :] = pl.col_sum(pl.aiv_shard(c))


@pl.incore
def rows_of_half_the_columns(a: pl.Tensor[[64, 64], pl.FP16], y: pl.Out[pl.Tensor[[64, 2], pl.FP32]]):
    c = pl.matmul(a, a)
    for lane in pl.split_aiv(2, mode=pl.SplitMode.LEFT_RIGHT):
        e = pl.exp(pl.aiv_shard(c))
        # error: split-reduce `trowmax` combines columns, of which each lane has half
        y[:, lane : lane + 1] = pl.row_max(e * 2.0)
