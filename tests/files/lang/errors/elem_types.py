# Operands of different element types.
#
# test: check %s
# exit: 2
import slipring.language as pl


@pl.incore
def add(x: pl.Tensor[[64, 64], pl.FP32], h: pl.Tensor[[64, 64], pl.FP16], y: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
    # error: elem-types `pl.add` of FP32 and FP16 elements
    y[:] = x + h


@pl.incore
def divide(x: pl.Tensor[[64, 64], pl.FP32], h: pl.Tensor[[64, 64], pl.FP16], y: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
    # error: elem-types `pl.div` of FP32 and FP16 elements
    y[:] = x / h


@pl.incore
def product(x: pl.Tensor[[64, 64], pl.FP32], h: pl.Tensor[[64, 64], pl.FP16], y: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
    # error: elem-types a product of FP32 and FP16 elements
    y[:] = pl.matmul(x, h)


@pl.incore
def result(h: pl.Tensor[[64, 64], pl.FP16], y: pl.Out[pl.Tensor[[64, 64], pl.FP16]]):
    # error: elem-types the accumulator holds FP32, not FP16
    y[:] = pl.matmul(h, h, out_dtype=pl.FP16)
