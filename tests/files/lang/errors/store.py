# Nothing is stored into a number.
#
# test: check %s
# exit: 2
import slipring.language as pl


@pl.incore
def f(x: pl.Tensor[[64, 64], pl.FP32], y: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
    sizes = x.shape
    # error: store nothing can be stored into the number 64
    sizes[0] = 32
    y[:] = x
