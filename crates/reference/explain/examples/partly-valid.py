# slipring check FILE
import slipring.language as pl
@pl.incore
def inner(x: pl.Tensor[[64, 64], pl.FP16], v: pl.Tensor[[64, 64], pl.FP16], y: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
    part = pl.slice(v, [64, 64], [0, 0], valid_shape=[40, 64])
    y[:] = pl.matmul(x, part)
