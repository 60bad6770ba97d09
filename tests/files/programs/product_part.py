# A part of a product: the Vector cores take it.
#
# args: full:f16[16x32]=1 iota:f16[32x64] zeros:f32[4x16]
# platforms: a5, a2a3
# test: run %s --verify
# check: verify clean
# out[2]: f32 32768 32800 32832 32864 32896 32928 32960 32992 33024 33056 33088 33120 33152 33184 33216 33248 …
import pypto.language as pl


@pl.jit
def part(x: pl.Tensor[[16, 32], pl.FP16], w: pl.Tensor[[32, 64], pl.FP16], out: pl.Out[pl.Tensor[[4, 16], pl.FP32]]):
    with pl.at(level=pl.Level.CORE_GROUP):
        product = pl.matmul(x, w, out_dtype=pl.FP32)
        out[:, :] = pl.mul(pl.slice(product, [4, 16], [8, 32]), 1.0)
    return out
