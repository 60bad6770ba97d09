# A tile among the parameters of a kernel that is launched: a tensor, loaded where it is used.
# platforms: a5, a2a3
# test: run %s --arg full:f32[8x64]=3 --arg zeros:f32[8x64]
# out[1]: f32 512*4
import pypto.language as pl


@pl.program
class P:
    @pl.function(type=pl.FunctionType.InCore)
    def main(
        self, x: pl.Tile[[8, 64], pl.FP32], out: pl.Out[pl.Tensor[[8, 64], pl.FP32]]
    ) -> pl.Tensor[[8, 64], pl.FP32]:
        out = pl.store(pl.add(x, 1.0), [0, 0], out)
        return out
