# `pl.expand_clone(x, out)` writes an output; of an input it takes the shape only.
# platforms: a5, a2a3
# test: run %s --arg iota:f32[1x16] --arg zeros:f32[4x16] --arg zeros:f32[4x16]
# out[1]: f32 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15
# out[2]: f32 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16
import pypto.language as pl


@pl.jit.incore
def kernel(
    x: pl.Tensor[[1, 16], pl.FP32],
    out: pl.Out[pl.Tensor[[4, 16], pl.FP32]],
    other: pl.Out[pl.Tensor[[4, 16], pl.FP32]],
):
    out = pl.expand_clone(x, out)
    y = pl.expand_clone(x, pl.create_tile([4, 16], pl.FP32))
    other[:] = y + 1.0
