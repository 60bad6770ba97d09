# The number of the lane in functions that open no region: also through a call, and beside the automatic split.
#
# test: check %s
# exit: 2
import slipring.language as pl


@pl.incore
def plain(x: pl.Tensor[[64, 64], pl.FP32], y: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
    # error: lane-outside `get_subblock_idx` is outside every region
    i = pl.tile.get_subblock_idx()
    y[i * 32 : i * 32 + 32, :] = x[i * 32 : i * 32 + 32, :] * 2.0


@pl.inline
def lane():
    # error: lane-outside `get_subblock_idx` is outside every region
    return pl.tile.get_subblock_idx()


@pl.incore
def called(x: pl.Tensor[[64, 64], pl.FP32], y: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
    i = lane()
    y[i * 32 : i * 32 + 32, :] = x[i * 32 : i * 32 + 32, :] * 2.0


@pl.incore
def automatic(x: pl.Tensor[[64, 64], pl.FP32], y: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
    with pl.at(level=pl.Level.CORE_GROUP, optimizations=[pl.split(pl.SplitMode.UP_DOWN)]):
        # error: lane-outside `get_subblock_idx` is outside every region
        i = pl.tile.get_subblock_idx()
        y[i * 32 : i * 32 + 32, :] = x[i * 32 : i * 32 + 32, :] * 2.0
