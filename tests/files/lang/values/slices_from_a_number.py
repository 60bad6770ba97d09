# A part of a tile that begins where only the run knows: it ends where the tile does.
#
# args: iota:f32[4x16] 8:i32 zeros:f32[4x16] zeros:f32[4x16]
# test: run %s --arch a5 --verify
# check: verify clean
# out[2]: f32 8 9 10 11 12 13 14 15 8*0 24 25 26 27 28 29 30 31 8*0 40 41 42 43 44 45 46 47 8*0 56 57 58 59 60 61 62 63 8*0
# out[3]: f32 32 33 34 35 36 37 38 39 40 41 42 43 44 45 46 47 48 49 50 51 52 53 54 55 56 57 58 59 60 61 62 63 32*0
# test: run %s --arch a2a3 --verify
# check: verify clean
# out[2]: f32 8 9 10 11 12 13 14 15 8*0 24 25 26 27 28 29 30 31 8*0 40 41 42 43 44 45 46 47 8*0 56 57 58 59 60 61 62 63 8*0
# out[3]: f32 32 33 34 35 36 37 38 39 40 41 42 43 44 45 46 47 48 49 50 51 52 53 54 55 56 57 58 59 60 61 62 63 32*0
import slipring.language as pl


@pl.incore
def f(
    x: pl.Tensor[[4, 16], pl.FP32],
    n: pl.Scalar[pl.INT32],
    columns: pl.InOut[pl.Tensor[[4, 16], pl.FP32]],
    rows: pl.InOut[pl.Tensor[[4, 16], pl.FP32]],
):
    t = pl.load(x, [0, 0], [4, 16])
    pl.store(t[:, n:], [0, 0], columns)
    pl.store(t[n - 6 :], [0, 0], rows)
