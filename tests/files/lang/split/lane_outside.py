# The number of the lane exists in regions only: outside both lanes would be lane 0.
#
# test: check %s
# exit: 2
import slipring.language as pl


@pl.incore
def f(a: pl.Tensor[[64, 64], pl.FP16], y: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
    c = pl.matmul(a, a)
    # error: lane-outside `get_subblock_idx` is outside every region
    aiv_id = pl.tile.get_subblock_idx()
    for lane in pl.split_aiv(2, mode=pl.SplitMode.UP_DOWN):
        y[aiv_id * 32 : aiv_id * 32 + 32, :] = pl.aiv_shard(c)
