# A tile is stored into a window of its own shape.
#
# test: check %s
# exit: 2
import slipring.language as pl


@pl.incore
def tensor(x: pl.Tensor[[64, 64], pl.FP32], y: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
    # error: store-shape a tile [64, 64] does not fit a window [32, 64] of `y`
    y[0:32, :] = pl.exp(x)


@pl.incore
def tile(x: pl.Tensor[[64, 64], pl.FP32], y: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
    t = pl.create_tile([64, 64], pl.FP32)
    # error: store-shape [64, 64] does not fit [32, 64]
    t[0:32, :] = pl.exp(x)
    y[:] = t


@pl.incore
def number(y: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
    # error: store-shape the number 1.0 is stored into a window of more than one element
    y[0, :] = 1.0
