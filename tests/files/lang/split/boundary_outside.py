# Transfers mark where lanes begin and end: they stand in regions.
#
# test: check %s
# exit: 2
import slipring.language as pl


@pl.incore
def shard(a: pl.Tensor[[64, 64], pl.FP16], y: pl.Out[pl.Tensor[[32, 64], pl.FP32]]):
    c = pl.matmul(a, a)
    # error: boundary-outside `pl.aiv_shard` is outside every `split_aiv` region
    y[:] = pl.aiv_shard(c, pl.SplitMode.UP_DOWN)


@pl.incore
def gather(a: pl.Tensor[[64, 64], pl.FP16], y: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
    for lane in pl.split_aiv(2, mode=pl.SplitMode.UP_DOWN):
        half = pl.load(a, [lane * 32, 0], [32, 64])
    # error: boundary-outside `pl.aic_gather` is outside every `split_aiv` region
    y[:] = pl.matmul(pl.aic_gather(half, pl.SplitMode.UP_DOWN), a)
