# A transfer takes one tile, and a mode.
#
# test: check %s
# exit: 2
import slipring.language as pl


@pl.incore
def two(a: pl.Tensor[[64, 64], pl.FP16], y: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
    c = pl.matmul(a, a)
    for lane in pl.split_aiv(2, mode=pl.SplitMode.UP_DOWN):
        # error: argument `pl.aiv_shard` takes 2 arguments in order, 3 are given
        y[lane * 32 : lane * 32 + 32, :] = pl.aiv_shard(c, c, c)


@pl.incore
def none(a: pl.Tensor[[64, 64], pl.FP16], y: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
    for lane in pl.split_aiv(2, mode=pl.SplitMode.UP_DOWN):
        # error: argument `pl.aiv_shard` needs `tile`
        y[lane * 32 : lane * 32 + 32, :] = pl.aiv_shard()


@pl.incore
def no_mode(a: pl.Tensor[[64, 64], pl.FP16], y: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
    c = pl.matmul(a, a)
    for lane in pl.split_aiv(2):
        # error: argument `mode` of `pl.aiv_shard` is a mode such as `pl.SplitMode.UP_DOWN`, not the number 7
        y[lane * 32 : lane * 32 + 32, :] = pl.aiv_shard(c, 7)
