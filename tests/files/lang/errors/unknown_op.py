# Ops that the language does not have.
#
# test: check %s
# exit: 2
import slipring.language as pl


@pl.incore
def f(x: pl.Tensor[[64, 64], pl.FP32], y: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
    # error: unknown-op there is no `pl.rowmax`
    y[:] = pl.rowmax(x)


@pl.incore
def g(x: pl.Tensor[[64, 64], pl.FP32], y: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
    # error: unknown-op there is no `pl.tile.softmax`
    y[:] = pl.tile.softmax(x)
