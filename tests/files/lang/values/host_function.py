# A function that starts kernels is host code: it is named and left out.
#
# args: iota:f32[1x8] zeros:f32[1x8]
# test: run %s
# check: warning[host-function]: a function of type Orchestration starts kernels and is not run here
# out[1]: f32 1 2 3 4 5 6 7 8
import slipring.language as pl


@pl.incore
def kernel(a: pl.Tensor[[1, 8], pl.FP32], b: pl.Out[pl.Tensor[[1, 8], pl.FP32]]):
    b[:] = a + 1


@pl.function(type=pl.FunctionType.Orchestration)
def main(a: pl.Tensor[[1, 8], pl.FP32]):
    b = pl.create_tensor([1, 8], pl.FP32)
    return kernel(a, b)
