# Text that is not Python: every mistake is reported.
#
# test: check %s
# exit: 2
import slipring.language as pl


@pl.incore
def f(x: pl.Tensor[[64, 64], pl.FP32], y: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
    # error: python-syntax Expected an expression
    y[:] = x +
    # error: python-syntax Expected `:`, found newline
    for i in pl.range(4)
        y[:] = x
