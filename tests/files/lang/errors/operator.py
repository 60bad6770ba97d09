# Operators that do not work on what they are given.
#
# test: check %s
# exit: 2
import slipring.language as pl


@pl.incore
def power_of_a_tile(x: pl.Tensor[[64, 64], pl.FP32], y: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
    # error: operator there is no op for this operator on tiles
    y[:] = x**2


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
    # error: operator a tensor [64, 64] FP32 and a tensor [64, 64] FP32 cannot be compared
    if x < y:
        y[:] = x
