# A product that a region reads without a shard.
#
# test: check %s
# exit: 2
import slipring.language as pl


@pl.incore
def rows(a: pl.Tensor[[64, 64], pl.FP16], y: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
    c = pl.matmul(a, a)
    for lane in pl.split_aiv(2, mode=pl.SplitMode.UP_DOWN):
        # error: implicit-shard a tile of the Cube core is read on the Vector cores without a shard
        y[:] = pl.exp(c)


@pl.incore
def whole(a: pl.Tensor[[64, 64], pl.FP16], y: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
    c = pl.matmul(a, a)
    for lane in pl.split_aiv(2, mode=pl.SplitMode.NONE):
        # error: implicit-shard a tile of the Cube core is read on the Vector cores without a shard
        y[:] = pl.exp(c)
