# A product takes whole tiles: what lanes made is gathered first.
#
# test: check %s
# exit: 2
import slipring.language as pl


@pl.incore
def after_the_region(a: pl.Tensor[[64, 64], pl.FP16], v: pl.Tensor[[64, 64], pl.FP32], y: pl.Out[pl.Tensor[[32, 64], pl.FP32]]):
    c = pl.matmul(a, a)
    for lane in pl.split_aiv(2, mode=pl.SplitMode.UP_DOWN):
        half = pl.exp(pl.aiv_shard(c))
    # error: implicit-gather a lane's tile is used on the Cube core without a gather
    y[:] = pl.matmul(half, v)


@pl.incore
def a_shard_itself(a: pl.Tensor[[64, 64], pl.FP16], v: pl.Tensor[[64, 64], pl.FP32], y: pl.Out[pl.Tensor[[32, 64], pl.FP32]]):
    c = pl.matmul(a, a)
    for lane in pl.split_aiv(2, mode=pl.SplitMode.UP_DOWN):
        half = pl.aiv_shard(c)
    # error: implicit-gather a lane's tile is used on the Cube core without a gather
    y[:] = pl.matmul(half, v)


@pl.incore
def the_right_one(a: pl.Tensor[[64, 64], pl.FP16], v: pl.Tensor[[64, 32], pl.FP32], y: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
    c = pl.matmul(a, a)
    for lane in pl.split_aiv(2, mode=pl.SplitMode.UP_DOWN):
        half = pl.exp(pl.aiv_shard(c))
    # error: implicit-gather a lane's tile is used on the Cube core without a gather
    y[:] = pl.matmul(v, half)
