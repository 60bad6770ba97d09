# args: iota:f32[16x16] full:f32[16x16]=1 zeros:f32[16x16]
import slipring.language as pl


@pl.incore
def f(a: pl.Tensor[[16, 16], pl.FP32], b: pl.Tensor[[16, 16], pl.FP32], y: pl.Out[pl.Tensor[[16, 16], pl.FP32]]):
    c = pl.matmul(a, b)
    for i in pl.range(3):
        c = pl.matmul_acc(c, a, b)
    y[:] = c
