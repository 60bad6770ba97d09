# args: rand:f32[320x16] zeros:f32[320x16] zeros:f32[320x16]
import slipring.language as pl


@pl.jit
def main(x: pl.Tensor[[320, 16], pl.FP32], m: pl.InOut[pl.Tensor[[320, 16], pl.FP32]], out: pl.Out[pl.Tensor[[320, 16], pl.FP32]]):
    for i in pl.range(20):
        with pl.at(level=pl.Level.CORE_GROUP, name_hint="part"):
            t = pl.load(x, [i * 16, 0], [16, 16])
            pl.store(pl.mul(t, 2.0), [i * 16, 0], m)
    with pl.at(level=pl.Level.CORE_GROUP, name_hint="whole"):
        out[:] = pl.add(m, 1.0)
    return out
