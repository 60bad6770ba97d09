# Both lanes take part in every transfer.
#
# test: check %s
# exit: 2
import slipring.language as pl


@pl.incore
def f(a: pl.Tensor[[64, 64], pl.FP16], y: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
    c = pl.matmul(a, a)
    for lane in pl.split_aiv(2, mode=pl.SplitMode.UP_DOWN):
        if lane == 0:
            # error: crossing-on-one-lane `aiv_shard` may happen on one lane only
            y[0:32, :] = pl.aiv_shard(c)
