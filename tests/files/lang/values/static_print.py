# What is known when the kernel is compiled can be printed then.
#
# args: iota:f32[1x8] zeros:f32[1x8]
# test: run %s
# check: static-print
# out[1]: f32 0 1 2 3 4 5 6 7
import slipring.language as pl


@pl.incore
def f(x: pl.Tensor[[1, 8], pl.FP32], y: pl.Out[pl.Tensor[[1, 8], pl.FP32]]):
    pl.static_print(x.shape)
    y[:] = x
