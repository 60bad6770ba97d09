# slipring check FILE
import slipring.language as pl
@pl.incore
def store(x: pl.Tensor[[64, 64], pl.FP32], y: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
    t = pl.load(x, [0, 0], [64, 64], target_memory=pl.Mem.Mat)
    y[:] = pl.move(t, pl.Mem.Left)
