# Working memory that nobody passes is as large as the library of each platform wants it: that of one row is more than a row.
#
# args: iota:f32[1x8] iota:f16[2x40] zeros:i32[1x8] zeros:i32[1x40]
# platforms: a5, a2a3
# test: run %s --verify
# check: verify clean
# out[2]: i32 8*0
# out[3]: i32 40*1
import slipring.language as pl


@pl.jit
def f(
    x: pl.Tensor[[1, 8], pl.FP32],
    h: pl.Tensor[[2, 40], pl.FP16],
    y: pl.Out[pl.Tensor[[1, 8], pl.INT32]],
    z: pl.Out[pl.Tensor[[1, 40], pl.INT32]],
):
    y[:] = pl.col_argmin(x[:, :])
    z[:] = pl.col_argmax(h[:, :])
