# The outlined spelling of a transfer, with `split=`, is not the language's.
#
# test: check %s
# exit: 2
import slipring.language as pl


@pl.incore
def f(a: pl.Tensor[[64, 64], pl.FP16], y: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
    c = pl.matmul(a, a)
    for lane in pl.split_aiv(2, mode=pl.SplitMode.UP_DOWN):
        # error: argument `pl.aiv_shard` has no argument `split`
        y[lane * 32 : lane * 32 + 32, :] = pl.tile.aiv_shard(c, split=1)
