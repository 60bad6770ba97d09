# The product of two tensors of one dimension is one number; a product by one is added like those of matrices.
#
# platforms: a5, a2a3
# test: run %s --func dot --arg iota:f16[16] --arg full:f16[16]=2 --arg zeros:f32[1]
# out[2]: f32 240
# test: run %s --func twice --arg iota:f16[16x16] --arg full:f16[16]=1 --arg zeros:f32[16]
# out[2]: f32 240 752 1264 1776 2288 2800 3312 3824 4336 4848 5360 5872 6384 6896 7408 7920
import slipring.language as pl

V = pl.Tensor[[16], pl.FP16]


@pl.jit
def dot(a: V, b: V, y: pl.Out[pl.Tensor[[1], pl.FP32]]):
    y[:] = pl.matmul(a, b)


@pl.jit
def twice(a: pl.Tensor[[16, 16], pl.FP16], b: V, y: pl.Out[pl.Tensor[[16], pl.FP32]]):
    c = pl.matmul(a, b)
    c = pl.matmul_acc(c, a, b)
    y[:] = c
