# `clamp` of a store keeps what lies before the end of the tensor, at places that only a run knows, too.
# platforms: a5, a2a3
# test: run %s --verify --arg iota:f32[10x8] --arg 6:i32 --arg zeros:f32[10x8] --arg full:f32[10x8]=7
# check: verify clean
# out[2]: f32 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31 32 33 34 35 36 37 38 39 40 41 42 43 44 45 46 47 48 49 50 51 52 53 54 55 56 57 58 59 60 61 62 63 64 65 66 67 68 69 70 71 72 73 74 75 76 77 78 79 80
# out[3]: f32 7 7 7 7 7 7 7 7 7 7 7 7 7 7 7 7 7 7 7 7 7 7 7 7 7 7 7 7 7 7 7 7 7 7 7 7 7 7 7 7 7 7 7 7 7 7 7 7 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0
import slipring.language as pl


@pl.incore
def k(
    x: pl.Tensor[[10, 8], pl.FP32],
    first: pl.Scalar[pl.INT32],
    y: pl.Out[pl.Tensor[[10, 8], pl.FP32]],
    z: pl.InOut[pl.Tensor[[10, 8], pl.FP32]],
):
    for i in pl.range(0, 10, 4):
        tile = pl.load(x, [i, 0], [4, 8], clamp=True) + 1.0
        pl.store(tile, [i, 0], y, clamp=True)
    pl.store(pl.full([8, 8], pl.FP32, 0.0), [first, 0], z, clamp=True)
