# What cannot be assumed of a launch.
#
# test: check %s
# exit: 2
import slipring.language as pl

ROWS = 60


@pl.incore
def never(n: pl.Scalar[pl.INT32], x: pl.Tensor[[64, 64], pl.FP32], y: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
    # error: static-assert no launch satisfies what is assumed here
    pl.assume(n > 0, ROWS % 16 == 0)
    y[:] = x


@pl.incore
def no_comparison(n: pl.Scalar[pl.INT32], x: pl.Tensor[[64, 64], pl.FP32], y: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
    # error: argument `pl.assume` of something else than the kernel's scalar arguments and constants
    pl.assume(n)
    y[:] = x


@pl.incore
def nothing(x: pl.Tensor[[64, 64], pl.FP32], y: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
    # error: argument `pl.assume` takes one condition or several
    pl.assume()
    y[:] = x


@pl.incore
def of_contents(x: pl.Tensor[[64, 64], pl.FP32], y: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
    # error: argument `pl.assume` of something else than the kernel's scalar arguments and constants
    pl.assume(pl.tensor.read(x, [0, 0]) > 0)
    y[:] = x


@pl.incore
def in_a_loop(n: pl.Scalar[pl.INT32], x: pl.Tensor[[64, 64], pl.FP32], y: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
    for i in pl.range(n):
        # error: argument `pl.assume` in a loop, a branch, a scope or a helper
        pl.assume(n > 4)
        y[i : i + 1, :] = x[i : i + 1, :]
