# slipring run FILE
import pypto.language as pl
@pl.jit
def overwrites(x: pl.InOut[pl.Tensor[[16, 16], pl.FP32]], out: pl.Out[pl.Tensor[[16, 16], pl.FP32]]):
    with pl.at(level=pl.Level.CORE_GROUP, name_hint="first"):
        out[:] = pl.add(x, 2.0)
    with pl.at(level=pl.Level.CORE_GROUP, name_hint="second"):
        pl.store(pl.full([16, 16], pl.FP32, 7.0), [0, 0], x)
