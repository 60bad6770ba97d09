# A sum has the place of a source that dies there, also where the other source came through a ring.
#
# args: full:f16[128x256]=0.5 full:f16[256x128]=1 full:f32[128x128]=3 zeros:f32[128x128]
# platforms: a5, a2a3
# test: run %s --verify
# check: verify clean
# out[3]: f32 16384*131
import pypto.language as pl


@pl.jit
def f(
    a: pl.Tensor[[128, 256], pl.FP16],
    b: pl.Tensor[[256, 128], pl.FP16],
    bias: pl.Tensor[[128, 128], pl.FP32],
    out: pl.Out[pl.Tensor[[128, 128], pl.FP32]],
):
    with pl.at(level=pl.Level.CORE_GROUP):
        acc = pl.matmul(a, b, out_dtype=pl.FP32)
        out[:] = pl.add(acc, bias)
    return out
