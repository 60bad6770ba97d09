# slipring run FILE
import pypto.language as pl
@pl.jit
def main(x: pl.Tensor[[32, 16], pl.FP32], out: pl.Out[pl.Tensor[[32, 16], pl.FP32]]):
    for i in pl.range(2):
        with pl.at(level=pl.Level.CORE_GROUP, name_hint="part", no_dep_args=[out]):
            t = pl.load(x, [i * 16, 0], [16, 16])
            pl.store(pl.mul(t, 2.0), [i * 16, 0], out)
