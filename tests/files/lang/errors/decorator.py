# Decorators that are not part of the language.
#
# test: check %s
# exit: 2
import slipring.language as pl


# error: decorator `pl.kernels` is not a decorator of a function
@pl.kernels
def unknown(x: pl.Tensor[[64, 64], pl.FP32], y: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
    y[:] = x


# error: decorator there is no function type `OutCore`
@pl.function(type=pl.FunctionType.OutCore)
def unknown_type(x: pl.Tensor[[64, 64], pl.FP32], y: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
    y[:] = x


@pl.incore
def kernel(x: pl.Tensor[[64, 64], pl.FP32], y: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
    y[:] = x
