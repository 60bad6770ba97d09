# As many names as values.
#
# test: check %s
# exit: 2
import slipring.language as pl


@pl.incore
def f(x: pl.Tensor[[64, 64], pl.FP32], y: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
    # error: unpack 3 names for 2 values
    rows, columns, depth = x.shape
    y[:] = x


@pl.incore
def g(x: pl.Tensor[[64, 64], pl.FP32], y: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
    # error: unpack 2 names for a tile [64, 64] FP32 in vec
    a, b = pl.exp(x)
    y[:] = a
