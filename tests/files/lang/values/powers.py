# Powers of tiles: small integers by products, halves by roots, below 0 by reciprocals; consecutive integers as floats.
# platforms: a5, a2a3
# test: run %s --verify --arg iota:f32[1x8] --arg zeros:f32[1x8] --arg zeros:f32[1x8] --arg zeros:f32[1x8] --arg zeros:f32[1x8]
# check: verify clean
# out[1]: f32 0 1 8 27 64 125 216 343
# out[2]: f32 inf 1 0.25 0.11111111 0.0625 0.04 0.027777778 0.020408163
# out[3]: f32 0 1 1.4142135 1.7320508 2 2.236068 2.4494898 2.6457512
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
