# Operators that do not work on what they are given.
#
# test: check %s
# exit: 2
import slipring.language as pl


@pl.incore
def power_of_a_tile(x: pl.Tensor[[64, 64], pl.FP32], y: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
    # error: operator on tiles, `**` takes a constant from 1 to 8, 0.5, or one of these below 0
    y[:] = x**1.5


@pl.incore
def quotient(x: pl.Tensor[[64, 64], pl.FP32], y: pl.Out[pl.Tensor[[64, 64], pl.FP32]], n: pl.Scalar[pl.INT32]):
    # error: operator this operator does not work on INT32 scalars
    for i in pl.range(n / 2):
        y[:] = x


@pl.incore
def not_of_a_number(x: pl.Tensor[[64, 64], pl.FP32], y: pl.Out[pl.Tensor[[64, 64], pl.FP32]], n: pl.Scalar[pl.INT32]):
    # error: operator this operator does not work on a scalar of type INT32
    if not n:
        y[:] = x


@pl.incore
def comparison(x: pl.Tensor[[64, 64], pl.FP32], y: pl.Out[pl.Tensor[[64, 64], pl.FP32]], n: pl.Scalar[pl.INT32]):
    # error: operator only ==, !=, <, <=, > and >= compare numbers
    if n in n:
        y[:] = x


@pl.incore
def compared_tiles(x: pl.Tensor[[64, 64], pl.FP32], y: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
    # error: condition a condition is a boolean, not a tile [64, 8] UINT8 in vec
    if x < y:
        y[:] = x


@pl.incore
def rounded_quotient(x: pl.Tensor[[64, 64], pl.FP32], y: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
    # error: operator there is no op for `//` on tiles
    y[:] = x // 2.0


@pl.incore
def membership(x: pl.Tensor[[64, 64], pl.FP32], y: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
    # error: operator only ==, !=, <, <=, > and >= compare tiles
    y[:] = 1.0 if x is y else 2.0


@pl.incore
def mask_of_another_shape(x: pl.Tensor[[64, 64], pl.FP32], y: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
    # error: shapes masks of tiles of different shapes
    y[:] = x if (x > 0.0) & (x[0:32, :] > 0.0) else 2.0


@pl.incore
def no_mask(x: pl.Tensor[[64, 64], pl.UINT8], y: pl.Out[pl.Tensor[[64, 64], pl.UINT8]]):
    # error: condition a condition is a boolean or a comparison of tiles
    y[:] = x if x else 2
