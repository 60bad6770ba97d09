# slipring run FILE
import slipring.language as pl
@pl.jit
def wrong(x: pl.Tensor[[32, 64], pl.FP32], out: pl.Out[pl.Tensor[[32, 64], pl.FP32]]):
    t = pl.create_tensor([32, 64], dtype=pl.FP32)
    with pl.at(level=pl.Level.CORE_GROUP):
        t[0:16, :] = x[0:16, :]
    with pl.at(level=pl.Level.CORE_GROUP):
        out[:, :] = t[:, :] * 2.0
