# Assertions that are decided when the kernel is compiled.
#
# test: check %s
# exit: 2
import slipring.language as pl

ROWS = 60


@pl.incore
def f(x: pl.Tensor[[ROWS, 64], pl.FP32], y: pl.Out[pl.Tensor[[ROWS, 64], pl.FP32]]):
    # error: static-assert ROWS must be a multiple of 16
    pl.static_assert(ROWS % 16 == 0, "ROWS must be a multiple of 16")
    y[:] = x
