# Powers of tiles: small integers by products, halves by roots, below 0 by reciprocals; consecutive integers as floats.
# platforms: a5, a2a3
# test: run %s --verify --arg iota:f32[1x8] --arg zeros:f32[1x8] --arg zeros:f32[1x8] --arg zeros:f32[1x8] --arg zeros:f32[1x8]
# check: verify clean
# out[1]: f32 0 1 8 27 64 125 216 343
# out[2]: f32 inf 1 0.25 0.111111 0.0625 0.04 0.0277778 0.0204082
# out[3]: f32 0 1 1.41421 1.73205 2 2.23607 2.44949 2.64575
# out[4]: f32 -3 -2.5 -2 -1.5 -1 -0.5 0 0.5
import slipring.language as pl


@pl.incore
def k(
    x: pl.Tensor[[1, 8], pl.FP32],
    cubes: pl.Out[pl.Tensor[[1, 8], pl.FP32]],
    below: pl.Out[pl.Tensor[[1, 8], pl.FP32]],
    roots: pl.Out[pl.Tensor[[1, 8], pl.FP32]],
    steps: pl.Out[pl.Tensor[[1, 8], pl.FP32]],
):
    cubes[:] = x**3
    below[:] = x**-2
    roots[:] = x**0.5
    steps[:] = pl.arange(-6, [1, 8], dtype=pl.FP32) * 0.5
