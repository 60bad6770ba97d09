# The last part of a tensor of three dimensions is shorter: what is valid of its tile, which only the run knows, is stored.
#
# args: iota:f32[2x5x8] zeros:f32[2x5x8]
# platforms: a5, a2a3
# test: run %s --verify
# check: verify clean
# out[1]: f32 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31 32 33 34 35 36 37 38 39 40 41 42 43 44 45 46 47 48 49 50 51 52 53 54 55 56 57 58 59 60 61 62 63 64 65 66 67 68 69 70 71 72 73 74 75 76 77 78 79
import slipring.language as pl


@pl.incore
def f(x: pl.Tensor[[2, 5, 8], pl.FP32], y: pl.Out[pl.Tensor[[2, 5, 8], pl.FP32]]):
    for b in pl.range(2):
        for c in pl.range(0, 5, 2):
            valid = pl.min(2, 5 - c)
            t = pl.load(x, [b, c, 0], [1, 2, 8], valid_shape=[1, valid, 8])
            y = pl.store(pl.mul(t, 1.0), [b, c, 0], y)
