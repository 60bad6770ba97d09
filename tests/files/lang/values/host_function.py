# A function that starts kernels is a whole program; its kernels can be run alone.
#
# args: iota:f32[1x8] zeros:f32[1x8]
# test: run %s --func kernel
# check: warning[host-function]: a function of type Orchestration starts kernels: it is a whole program and no kernel
# out[1]: f32 1 2 3 4 5 6 7 8
# test: run %s --arg iota:f32[1x8]
# check: 1 task with 0 edges
import slipring.language as pl


@pl.incore
def kernel(a: pl.Tensor[[1, 8], pl.FP32], b: pl.Out[pl.Tensor[[1, 8], pl.FP32]]):
    b[:] = a + 1


@pl.function(type=pl.FunctionType.Orchestration)
def main(a: pl.Tensor[[1, 8], pl.FP32]):
    b = pl.create_tensor([1, 8], pl.FP32)
    return kernel(a, b)
