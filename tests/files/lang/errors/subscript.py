# Subscripts that say too much.
#
# test: check %s
# exit: 2
import slipring.language as pl


@pl.incore
def dimensions(x: pl.Tensor[[64, 64], pl.FP32], y: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
    # error: subscript 3 subscripts for 2 dimensions
    y[:] = x[:, :, 0]


@pl.incore
def of_a_number(x: pl.Tensor[[64, 64], pl.FP32], y: pl.Out[pl.Tensor[[64, 64], pl.FP32]], n: pl.Scalar[pl.INT32]):
    # error: subscript a scalar of type INT32 has no parts
    y[:] = x * n[0]
