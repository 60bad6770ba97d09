# What a kernel cannot give back: a number.
#
# test: check %s
# exit: 2
import slipring.language as pl


@pl.incore
def f(x: pl.Tensor[[64, 64], pl.FP32], y: pl.Out[pl.Tensor[[64, 64], pl.FP32]], n: pl.Scalar[pl.INT32]):
    y[:] = x
    # error: return-tile a kernel cannot return a scalar of type INT32 here
    return n
