# Numbers and tiles are different things.
#
# test: check %s
# exit: 2
import slipring.language as pl


@pl.incore
def tile(x: pl.Tensor[[64, 64], pl.FP32], y: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
    # error: value-kind a tile is needed here, this is the number 3
    y[:] = pl.exp(3.0)


@pl.incore
def number(x: pl.Tensor[[64, 64], pl.FP32], y: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
    # error: value-kind a number of type FP32 is needed here, this is a tensor [64, 64] FP32
    y[:] = pl.full([64, 64], pl.FP32, x)


@pl.incore
def offset(x: pl.Tensor[[64, 64], pl.FP32], y: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
    # error: value-kind a number of type INDEX is needed here, this is the string "top"
    y[:] = pl.load(x, ["top", 0], [64, 64])
