# slipring check FILE
import pypto.language as pl
@pl.incore
def unwritten(x: pl.Tensor[[8, 8], pl.FP32], y: pl.Out[pl.Tensor[[8, 8], pl.FP32]], z: pl.Out[pl.Tensor[[8, 8], pl.FP32]]):
    y[:] = pl.add(x, 1.0)
