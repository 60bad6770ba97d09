# What a kernel only reads.
#
# test: check %s
# exit: 2
import slipring.language as pl


@pl.incore
def f(x: pl.Tensor[[64, 64], pl.FP32], y: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
    e = pl.exp(x)
    # error: read-only `x` is an input and cannot be written
    x[:] = e
