# Runs of rows of which only the run knows the length, put one behind the other: only what counts must lie inside the tile.
#
# platforms: a5, a2a3
# args: full:i32[1x8]=3 iota:f32[12x8] zeros:f32[8x8]
# test: run %s --verify
# check: verify clean
# out[2]: f32 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31 56 57 58 59 60 61 62 63 64 65 66 67 68 69 70 71 72 73 74 75 76 77 78 79 80 81 82 83 84 85 86 87 88 89 90 91 92 93 94 95
import pypto.language as pl


@pl.jit
def kernel(
    n: pl.Tensor[[1, 8], pl.INT32], pool: pl.Tensor[[12, 8], pl.FP32], out: pl.Out[pl.Tensor[[8, 8], pl.FP32]]
):
    with pl.at(level=pl.Level.CORE_GROUP):
        first = pl.read(n, [0, 0])
        rows = pl.create_l1([8, 8], pl.FP32)
        rows = pl.gather_row(rows, pool, [0, 0], [1, 0], [8, 8], valid_shape=[first, 8])
        rows = pl.gather_row(rows, pool, [first, 0], [7, 0], [8, 8], valid_shape=[8 - first, 8])
        out[:, :] = rows
    return out
