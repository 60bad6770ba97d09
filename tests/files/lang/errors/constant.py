# Constants that do not exist.
#
# test: check %s
# exit: 2
import slipring.language as pl


@pl.incore
def by_zero(x: pl.Tensor[[64, 64], pl.FP32], y: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
    # error: constant division by zero
    y[:] = x * (1 // 0)


@pl.incore
def too_large(x: pl.Tensor[[64, 64], pl.FP32], y: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
    # error: constant the number does not fit into 64 bits
    y[:] = x * 2**64


@pl.incore
def literal(x: pl.Tensor[[64, 64], pl.FP32], y: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
    # error: constant the number does not fit into 64 bits
    y[:] = x * 99999999999999999999


@pl.incore
def imaginary(x: pl.Tensor[[64, 64], pl.FP32], y: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
    # error: constant a kernel has no complex numbers
    y[:] = x * 2j


@pl.incore
def words(x: pl.Tensor[[64, 64], pl.FP32], y: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
    # error: constant this operator does not work on these constants
    y[:] = x * ("2" * 3)
