# Tiles in other shapes: the same elements row by row, rows as columns, side by side.
#
# args: iota:f32[8x8] zeros:f32[4x16] zeros:f32[8x8] zeros:f32[8x16] zeros:f32[4x2x8]
# test: run %s --arch a5 --verify
# check: verify clean
# out[1]: f32 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31 32 33 34 35 36 37 38 39 40 41 42 43 44 45 46 47 48 49 50 51 52 53 54 55 56 57 58 59 60 61 62 63
# out[2]: f32 0 8 16 24 32 40 48 56 1 9 17 25 33 41 49 57 2 10 18 26 34 42 50 58 3 11 19 27 35 43 51 59 4 12 20 28 36 44 52 60 5 13 21 29 37 45 53 61 6 14 22 30 38 46 54 62 7 15 23 31 39 47 55 63
# out[3]: f32 0 1 2 3 4 5 6 7 8*-1 8 9 10 11 12 13 14 15 8*-1 16 17 18 19 20 21 22 23 8*-1 …
# out[4]: f32 0 2 4 6 8 10 12 14 16 18 20 22 24 26 28 30 32 …
import slipring.language as pl


@pl.incore
def f(
    a: pl.Tensor[[8, 8], pl.FP32],
    b: pl.Out[pl.Tensor[[4, 16], pl.FP32]],
    c: pl.Out[pl.Tensor[[8, 8], pl.FP32]],
    d: pl.Out[pl.Tensor[[8, 16], pl.FP32]],
    e: pl.Out[pl.Tensor[[4, 2, 8], pl.FP32]],
):
    x = pl.load(a, [0, 0], [8, 8])
    b[:] = pl.reshape(x, [4, 16])
    c[:] = pl.transpose(x)
    d[:] = pl.concat(x, pl.full([8, 8], pl.FP32, -1.0))
    planes = pl.reshape(x, [4, 2, 8])
    e[:] = planes + planes
