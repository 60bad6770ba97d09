# Halves of rows, stored side by side: the lane belongs to the offset of the axis that is divided.
#
# test: check %s
# exit: 2
import slipring.language as pl


@pl.incore
def rows(a: pl.Tensor[[64, 64], pl.FP16], y: pl.Out[pl.Tensor[[32, 128], pl.FP32]]):
    c = pl.matmul(a, a)
    for lane in pl.split_aiv(2, mode=pl.SplitMode.UP_DOWN):
        # error: gm-offset-axis the lanes hold half of the rows each and store them side by columns
        y[:, lane * 64 : lane * 64 + 64] = pl.aiv_shard(c)


@pl.incore
def columns(a: pl.Tensor[[64, 64], pl.FP16], y: pl.Out[pl.Tensor[[128, 32], pl.FP32]]):
    c = pl.matmul(a, a)
    for lane in pl.split_aiv(2, mode=pl.SplitMode.LEFT_RIGHT):
        half = pl.exp(pl.aiv_shard(c))
        # error: gm-offset-axis the lanes hold half of the columns each and store them side by rows
        y[lane * 64 : lane * 64 + 64, :] = half
