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


@pl.incore
def by_keyword(x: pl.Tensor[[ROWS, 64], pl.FP32], y: pl.Out[pl.Tensor[[ROWS, 64], pl.FP32]]):
    # error: static-assert ROWS by keyword
    pl.static_assert(condition=ROWS % 16 == 0, message="ROWS by keyword")
    y[:] = x


@pl.incore
def by_other_keyword(x: pl.Tensor[[ROWS, 64], pl.FP32], y: pl.Out[pl.Tensor[[ROWS, 64], pl.FP32]]):
    # error: static-assert ROWS by msg
    pl.static_assert(ROWS % 16 == 0, msg="ROWS by msg")
    y[:] = x


@pl.incore
def misspelt(x: pl.Tensor[[ROWS, 64], pl.FP32], y: pl.Out[pl.Tensor[[ROWS, 64], pl.FP32]]):
    # error: argument `pl.static_assert` has no argument `massage`
    pl.static_assert(ROWS % 16 == 0, massage="ROWS")
    y[:] = x


@pl.incore
def of_a_run(x: pl.Tensor[[ROWS, 64], pl.FP32], n: pl.Scalar[pl.INT32], y: pl.Out[pl.Tensor[[ROWS, 64], pl.FP32]]):
    # error: argument `pl.static_assert` of a condition that only a run knows
    pl.static_assert(n > 2, "n")
    y[:] = x


@pl.incore
def constant_of_a_run(x: pl.Tensor[[ROWS, 64], pl.FP32], n: pl.Scalar[pl.INT32], y: pl.Out[pl.Tensor[[ROWS, 64], pl.FP32]]):
    # error: argument `pl.const` of a value that only a run knows
    y[:] = pl.add(x, pl.const(n, pl.FP32))
