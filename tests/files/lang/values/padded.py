# Extents that are no whole number of lines or fractals: a product with Vector work after it, and conversions between types whose
# lines have other lengths. Each element of the product is 32.
#
# args: full:f16[33x64]=1 full:f16[64x40]=0.5 full:bf16[16x24]=1.5 zeros:f32[33x40] zeros:f32[16x24] zeros:bf16[16x24]
# platforms: a5, a2a3
# test: run %s --verify
# check: verify clean
# out[3]: f32 1320*96
# out[4]: f32 384*2.5
# out[5]: bf16 384*2.5
import slipring.language as pl


@pl.incore
def f(
    a: pl.Tensor[[33, 64], pl.FP16],
    b: pl.Tensor[[64, 40], pl.FP16],
    h: pl.Tensor[[16, 24], pl.BF16],
    y: pl.Out[pl.Tensor[[33, 40], pl.FP32]],
    wide: pl.Out[pl.Tensor[[16, 24], pl.FP32]],
    narrow: pl.Out[pl.Tensor[[16, 24], pl.BF16]],
):
    c = pl.matmul(a, b)
    y[:] = c * 2.0 + c
    x = pl.cast(h, pl.FP32) + 1.0
    wide[:] = x
    narrow[:] = pl.cast(pl.relu(x), pl.BF16)
