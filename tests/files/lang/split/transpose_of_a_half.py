# A transpose of a lane's half would exchange the divided axis.
#
# test: check %s
# exit: 2
import slipring.language as pl


@pl.incore
def f(a: pl.Tensor[[64, 64], pl.FP16], y: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
    c = pl.matmul(a, a)
    for lane in pl.split_aiv(2, mode=pl.SplitMode.UP_DOWN):
        # error: split-transpose `ttrans` turns the rows that are divided
        t = pl.transpose(pl.aiv_shard(c))
        y[:, lane * 32 : lane * 32 + 32] = t
