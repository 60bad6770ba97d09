# Two functions of one name.
#
# test: check %s
# exit: 2
import slipring.language as pl


@pl.incore
def f(x: pl.Tensor[[64, 64], pl.FP32], y: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
    y[:] = x


@pl.incore
# error: duplicate a second function `f`
def f(x: pl.Tensor[[64, 64], pl.FP32], y: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
    y[:] = x * 2.0


@pl.incore
# error: duplicate a second parameter `x`
def g(x: pl.Tensor[[64, 64], pl.FP32], y: pl.Out[pl.Tensor[[64, 64], pl.FP32]], x: pl.Scalar[pl.INT32]):
    y[:] = x
