# Comparisons of tiles as Python writes them, choices by them, masks as ones and zeros.
#
# args: iota:f32[2x16] full:f32[2x16]=12 zeros:f32[12x2x16] iota:i32[2x16] zeros:i32[3x2x16] zeros:f32[2x1]
# platforms: a5, a2a3
# test: run %s --verify
# check: verify clean
# check-not: sources-disagree
# out[2]: f32 6*0 26*1 13*12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31 8*-1 8 9 10 11 12 19*-1 21*12 21 22 23 24 25 26 27 28 29 30 31 12*1 0 19*1 11*0 21*7 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 2*30 12*0 1 19*0 21*-3 11*2.5 3*9 3 4 5 6 7 24*9 21*1.5 11*12 0 1 2 29*5
# out[4]: i32 20*0 12*1 0 1 2 0 1 2 0 1 2 0 1 2 0 1 2 0 1 2 0 1 2 0 1 2 0 1 2 0 1 2 0 21*1 12*0
# out[5]: f32 5 16
import pypto.language as pl


@pl.jit
def f(
    x: pl.Tensor[[2, 16], pl.FP32],
    twelve: pl.Tensor[[2, 16], pl.FP32],
    y: pl.Out[pl.Tensor[[12, 2, 16], pl.FP32]],
    n: pl.Tensor[[2, 16], pl.INT32],
    z: pl.Out[pl.Tensor[[3, 2, 16], pl.INT32]],
    count: pl.Out[pl.Tensor[[2, 1], pl.FP32]],
):
    with pl.at(level=pl.Level.CORE_GROUP):
        # Ones and zeros of the type that is compared.
        y[0] = pl.cmp(x, 6.0, cmp_type=5)
        t = pl.load(x, [0, 0], [2, 16])
        # The larger one.
        y[1] = t if t > twelve else twelve
        # Two comparisons at once.
        between = 8.0 <= t
        both = between & (t <= 12.0)
        y[2] = t if both else -1.0
        mask: pl.Tile[[2, 32], pl.UINT8] = pl.cmps(t, 20.0, cmp_type=4)
        tmp = pl.create_tile([1, 32], dtype=pl.UINT8)
        y[3] = pl.sel(mask, t, pl.load(twelve, [0, 0], [2, 16]), tmp)
        y[4] = pl.cmp(t, twelve, cmp_type=1)
        # What counts them sees numbers.
        count[:] = pl.row_sum(t > 10.0)
        y[5] = pl.mul(t > 10.0, 7.0)
        y[6] = pl.sub(t, t > 30.0)
        y[7] = not (t != 12.0)
        y[8] = 2.5 if mask else -3.0
        # A tile of numbers that are not zero where it is chosen.
        y[9] = pl.sels((t >= 3.0) & (t < 8.0), t, 9.0)
        y[10] = twelve if mask else 1.5
        y[11] = t if (t < 3.0) else pl.full([2, 16], pl.FP32, 5.0)
        z[0] = pl.cmp(n, 20, cmp_type=5)
        z[1] = pl.load(n, [0, 0], [2, 16]) % 3
        z[2] = pl.cmp(n, 20, cmp_type=2)
    return y
