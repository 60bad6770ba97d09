# A condition is a boolean.
#
# test: check %s
# exit: 2
# check: an element is read with `pl.read(x, [i, j])`
import slipring.language as pl


@pl.incore
def f(x: pl.Tensor[[64, 64], pl.FP32], y: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
    # error: condition a condition is a boolean, not a tensor [64, 64] FP32
    if x:
        y[:] = x
