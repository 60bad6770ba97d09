# Conversions and their rounding modes, on -1.5, -1, -0.5 … 2: to the nearest with ties to even, with ties away from zero, down, up,
# towards zero; without a mode ties go away from zero. Behind them a bf16 that falls between two numbers: 1 + 3/256 lies between
# 1 + 1/128 and 1 + 2/128.
#
# args: iota:f32[1x8] zeros:i32[6x8] full:f32[1x16]=1.01171875 zeros:f32[2x16] iota:i32[1x16] zeros:f32[1x16]
# platforms: a5, a2a3
# test: run %s --verify
# check: verify clean
# out[1]: i32 -2 -1 0 0 0 1 2 2  -2 -1 -1 0 1 1 2 2  -2 -1 -1 0 0 1 1 2  -1 -1 0 0 1 1 2 2  -1 -1 0 0 0 1 1 2  -2 -1 -1 0 1 1 2 2
# out[3]: f32 16*1.015625 16*1.0078125
# out[5]: f32 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15
import slipring.language as pl


@pl.incore
def f(
    a: pl.Tensor[[1, 8], pl.FP32],
    b: pl.Out[pl.Tensor[[6, 8], pl.INT32]],
    c: pl.Tensor[[1, 16], pl.FP32],
    d: pl.Out[pl.Tensor[[2, 16], pl.FP32]],
    n: pl.Tensor[[1, 16], pl.INT32],
    m: pl.Out[pl.Tensor[[1, 16], pl.FP32]],
):
    x = (a - 3) / 2
    b[0:1, :] = pl.cast(x, pl.INT32, mode="rint")
    b[1:2, :] = pl.cast(x, pl.INT32, mode="round")
    b[2:3, :] = pl.cast(x, pl.INT32, mode="floor")
    b[3:4, :] = pl.cast(x, pl.INT32, mode="ceil")
    b[4:5, :] = pl.cast(x, pl.INT32, mode="trunc")
    b[5:6, :] = pl.cast(x, pl.INT32)
    d[0:1, :] = pl.cast(pl.cast(c, pl.BF16, mode="rint"), pl.FP32)
    d[1:2, :] = pl.cast(pl.cast(c, pl.BF16, mode="floor"), pl.FP32)
    m[:] = pl.cast(n, pl.FP32)
