# slipring check FILE
import slipring.language as pl
@pl.incore
def f(x: pl.Tensor[[64, 64], pl.FP32], y: pl.Out[pl.Tensor[[64, 64], pl.FP32]], z: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
    first = pl.matmul(x, x)
    both = pl.matmul_acc(first, x, x)
    z[:] = first
