# test: check %s --set rowz=2
# exit: 2
# error-without-place: set nothing of the file takes `rowz` from outside
# test: check %s --set rows=2
# exit: 0
# check: ok, 1 function
import pypto.language as pl


def build(rows=4):
    @pl.jit
    def kernel(x: pl.Tensor[[rows, 16], pl.FP32], y: pl.Out[pl.Tensor[[rows, 16], pl.FP32]]):
        y[:] = x + 1.0

    return kernel
