# A bracket that is never closed: the bracket is named, and not the lines after it.
#
# test: check %s
# exit: 2
import slipring.language as pl


@pl.incore
def f(x: pl.Tensor[[64, 64], pl.FP32], y: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
    # error: python-syntax this `(` is never closed
    t = pl.add(x, pl.mul(x, 2.0)
    u = pl.add(t, t)
    y[:] = u


@pl.incore
def g(x: pl.Tensor[[64, 64], pl.FP32], y: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
    y[:] = x
