# A slice's extent is what its two ends differ by, however the products in them are written.
#
# args: iota:f32[8x8] zeros:f32[8x8]
# platforms: a5, a2a3
# test: run %s --verify
# check: verify clean
# out[1]: f32 64 66 68 70 72 74 76 78 80 82 84 86 88 90 92 94 96 98 100 102 104 106 108 110 112 114 116 118 120 122 124 126 0 2 4 6 8 10 12 14 16 18 20 22 24 26 28 30 32 34 36 38 40 42 44 46 48 50 52 54 56 58 60 62
import slipring.language as pl

TILE = 4


@pl.incore
def f(x: pl.Tensor[[8, 8], pl.FP32], y: pl.Out[pl.Tensor[[8, 8], pl.FP32]]):
    for i in pl.range(2):
        y[i * TILE : (i + 1) * TILE, :] = x[8 - TILE * (1 + i) : -(i * TILE) + 8, :] * 2.0
