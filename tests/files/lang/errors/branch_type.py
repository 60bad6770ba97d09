# A name that is different things after the arms of a branch.
#
# test: check %s
# exit: 2
import slipring.language as pl


@pl.incore
def f(x: pl.Tensor[[64, 64], pl.FP32], y: pl.Out[pl.Tensor[[64, 64], pl.FP32]], n: pl.Scalar[pl.INT32]):
    # error: branch-type after this branch `value` is a tile [64, 64] FP32 in vec or the number 3
    if n > 0:
        value = pl.exp(x)
    else:
        value = 3.0
    y[:] = value
