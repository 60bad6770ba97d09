# A transfer says how the tile is divided, or the region does.
#
# test: check %s
# exit: 2
import slipring.language as pl


@pl.incore
def shard(a: pl.Tensor[[64, 64], pl.FP16], y: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
    c = pl.matmul(a, a)
    for lane in pl.split_aiv(2):
        # error: split-mode `pl.aiv_shard` does not say how the tile is divided
        y[lane * 32 : lane * 32 + 32, :] = pl.aiv_shard(c)


@pl.incore
def gather(a: pl.Tensor[[64, 64], pl.FP16], y: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
    for lane in pl.split_aiv(2):
        half = pl.load(a, [lane * 32, 0], [32, 64])
        # error: split-mode `pl.aic_gather` does not say how the tile is divided
        whole = pl.aic_gather(half)
    y[:] = pl.matmul(whole, a)


@pl.incore
def no_mode(a: pl.Tensor[[64, 64], pl.FP16], y: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
    c = pl.matmul(a, a)
    # error: split-mode a mode is `pl.SplitMode.…`, not the string "UP_DOWN"
    for lane in pl.split_aiv(2, mode="UP_DOWN"):
        y[lane * 32 : lane * 32 + 32, :] = pl.aiv_shard(c)


@pl.incore
def neither(a: pl.Tensor[[64, 64], pl.FP16], y: pl.Out[pl.Tensor[[64, 64], pl.FP16]]):
    # error: split-mode nothing says how this region divides tiles
    for lane in pl.split_aiv(2):
        y[lane * 32 : lane * 32 + 32, :] = pl.load(a, [lane * 32, 0], [32, 64])
