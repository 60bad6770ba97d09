# Windows that do not lie inside what they are taken of.
#
# test: check %s
# exit: 2
import slipring.language as pl


@pl.incore
def row(x: pl.Tensor[[64, 64], pl.FP32], y: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
    # error: bounds index 64 lies outside the 64 of this dimension
    y[0, :] = x[64, :]


@pl.incore
def rows(x: pl.Tensor[[64, 64], pl.FP32], y: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
    # error: bounds the slice 56:72 does not lie inside the 64 of this dimension
    y[0:16, :] = x[56:72, :]


@pl.incore
def nothing(x: pl.Tensor[[64, 64], pl.FP32], y: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
    # error: bounds the slice 16:16 does not lie inside the 64 of this dimension
    y[0:16, :] = x[16:16, :]


@pl.incore
def too_many_rows(x: pl.Tensor[[64, 64], pl.FP32], y: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
    for i in pl.range(4):
        # error: store-shape a tile [64, 64] does not fit a window [65, 64] of `y`
        y[i : i + 65, :] = x


@pl.incore
def too_many_rows_of_a_tile(x: pl.Tensor[[64, 64], pl.FP32], y: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
    e = pl.exp(x)
    for i in pl.range(4):
        # error: bounds a slice of 65 in a dimension of 64
        y[:] = e[i : i + 65, :]


@pl.incore
def load(x: pl.Tensor[[64, 64], pl.FP32], y: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
    # error: bounds elements 1 to 65 lie outside the 64 of dimension 0
    y[:] = pl.load(x, [1, 0], [64, 64])


@pl.incore
def part_of_a_tile(x: pl.Tensor[[64, 64], pl.FP32], y: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
    e = pl.exp(x)
    # error: bounds elements 48 to 80 lie outside a tile [64, 64]
    y[0:32, :] = pl.slice(e, [32, 64], [48, 0])


@pl.incore
def axis(x: pl.Tensor[[64, 64], pl.FP32], y: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
    # error: bounds there is no axis 2
    y[:] = pl.full([64, pl.dim(x, 2)], pl.FP32, 0.0)
