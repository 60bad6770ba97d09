# A mode is said once on a region.
#
# test: check %s
# exit: 2
import slipring.language as pl


@pl.incore
def region(a: pl.Tensor[[64, 64], pl.FP16], y: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
    c = pl.matmul(a, a)
    # error: argument `mode` is given twice
    for lane in pl.split_aiv(2, mode=pl.SplitMode.UP_DOWN, mode=pl.SplitMode.LEFT_RIGHT):
        y[lane * 32 : lane * 32 + 32, :] = pl.aiv_shard(c)
