# What 0.27 has in another form only: a comparison on A5 whose mask is as large as what is compared, the larger of an integer and a
# number, a count without a sign.
#
# args: iota:f32[32x64] full:f32[32x64]=12 zeros:f32[32x64] iota:i32[32x64] zeros:i32[32x64]
# platforms: a5, a2a3
# test: run %s --verify
# check: verify clean
# out[2]: f32 12 12 12 12 12 12 12 12 12 12 12 12 12 13 14 15 …
# out[4]: i32 5 5 5 5 5 5 6 7 8 9 10 …
# test: build %s --arch a5 --for ptoas-0.27
# check: pto.tcmp ins(
# check: pto.texpands ins(
# check: pto.tmax ins(
# check: pto.tmin ins(
# check-not: 32x32xui8
import pypto.language as pl


@pl.jit
def f(
    x: pl.Tensor[[32, 64], pl.FP32],
    w: pl.Tensor[[32, 64], pl.FP32],
    y: pl.Out[pl.Tensor[[32, 64], pl.FP32]],
    n: pl.Tensor[[32, 64], pl.INT32],
    m: pl.Out[pl.Tensor[[32, 64], pl.INT32]],
):
    with pl.at(level=pl.Level.CORE_GROUP):
        t = pl.load(x, [0, 0], [32, 64])
        u = pl.load(w, [0, 0], [32, 64])
        y[:] = t if t > u else u
        k = pl.load(n, [0, 0], [32, 64])
        m[:] = pl.minimum(pl.maximum(k, 5), 100)
    return y
