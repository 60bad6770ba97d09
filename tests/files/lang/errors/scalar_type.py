# Scalars of the wrong type.
#
# test: check %s
# exit: 2
import slipring.language as pl


@pl.incore
def rows(x: pl.Tensor[[64, 64], pl.FP32], y: pl.Out[pl.Tensor[[64, 64], pl.FP32]], s: pl.Scalar[pl.FP32]):
    # error: scalar-type an FP32 scalar where an INDEX one is needed
    for i in pl.range(s):
        y[:] = x


@pl.incore
def factor(x: pl.Tensor[[64, 64], pl.INT32], y: pl.Out[pl.Tensor[[64, 64], pl.INT32]], s: pl.Scalar[pl.FP32]):
    # error: scalar-type an FP32 scalar where an INT32 one is needed
    y[:] = x * s
