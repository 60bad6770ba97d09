# slipring check FILE
import slipring.language as pl
@pl.incore
def blocks(x: pl.Tensor[[64, 64], pl.FP32], y: pl.Out[pl.Tensor[[64, 64], pl.FP32]], n: pl.Scalar[pl.INT32]):
    for block in pl.spmd(4):
        y[block * 16 : block * 16 + 16, :] = x[block * 16 : block * 16 + 16, :]
