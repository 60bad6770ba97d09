# Casts of tails between types of other sizes: both tiles are padded alike, and as much of the result counts.
#
# args: iota:f32[3x5] zeros:f16[3x5] zeros:i32[3x5] zeros:f32[3x1]
# platforms: a5, a2a3
# test: run %s --verify
# check: verify clean
# out[1]: f16 0 2 4 6 8 10 12 14 16 18 20 22 24 26 28
# out[2]: i32 0 2 4 6 8 10 12 14 16 18 20 22 24 26 28
# out[3]: f32 1 6 11
import slipring.language as pl


@pl.jit
def f(
    x: pl.Tensor[[3, 5], pl.FP32],
    y: pl.Out[pl.Tensor[[3, 5], pl.FP16]],
    z: pl.Out[pl.Tensor[[3, 5], pl.INT32]],
    c: pl.Out[pl.Tensor[[3, 1], pl.FP32]],
):
    for i in pl.range(0, 3, 2):
        t = x[i : i + 2, :]
        half = pl.cast(t + t, pl.FP16)
        y[i : i + 2, :] = half
        z[i : i + 2, :] = pl.cast(pl.cast(half, pl.INT8), pl.FP16).cast(pl.INT32)
        c[i : i + 2, :] = pl.cast(pl.cast(pl.row_max(t) - pl.row_min(t) + x[i : i + 2, 0:1] - 3.0, pl.FP16), pl.FP32)
