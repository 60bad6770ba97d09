# slipring check FILE
import slipring.language as pl
@pl.incore
def f(x: pl.Tensor[[64, 64], pl.FP32], y: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
    acc = pl.full([64, 64], pl.FP32, 0.0)
    y[:] = pl.matmul_acc(acc, x, x)
