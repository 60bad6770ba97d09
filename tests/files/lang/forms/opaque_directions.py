# What an opaque function writes need not be declared: it is seen from the body.
# platforms: a5, a2a3
# test: run %s --arg full:f32[8x64]=3 --arg full:f32[8x64]=1
# out[1]: f32 512*8
import pypto.language as pl


@pl.program
class P:
    @pl.function(type=pl.FunctionType.Opaque)
    def main(
        self, x: pl.Tensor[[8, 64], pl.FP32], out: pl.Tensor[[8, 64], pl.FP32]
    ) -> pl.Tensor[[8, 64], pl.FP32]:
        with pl.at(level=pl.Level.CORE_GROUP):
            old = pl.load(out, [0, 0], [8, 64])
            out = pl.store(pl.add(pl.load(x, [0, 0], [8, 64]), old), [0, 0], out)
            out = pl.store(pl.mul(pl.load(out, [0, 0], [8, 64]), 2.0), [0, 0], out)
        return out
