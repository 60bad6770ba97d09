# slipring check FILE
import slipring.language as pl
@pl.incore
def product(x: pl.Tensor[[16, 32], pl.FP16], v: pl.Tensor[[16, 32], pl.FP16], y: pl.Out[pl.Tensor[[16, 16], pl.FP32]]):
    y[:] = pl.matmul(x, v, b_trans=True)
