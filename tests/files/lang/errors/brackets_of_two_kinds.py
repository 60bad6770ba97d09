# A bracket that is closed by another one.
#
# test: check %s
# exit: 2
import slipring.language as pl


@pl.incore
def f(x: pl.Tensor[[64, 64], pl.FP32], y: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
    # error: python-syntax this `[` is never closed
    y[:] = pl.add(x[0:64, 0:64), x)
