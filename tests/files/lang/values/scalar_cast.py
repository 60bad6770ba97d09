# Numbers converted from one type to another: an index and an integer as floats, and a column looked at as a row.
#
# args: full:f32[16x1]=1.5 7:i32 zeros:f32[4x16]
# test: run %s --arch a5 --verify
# check: verify clean
# out[2]: f32 16*8.5 16*10 16*11.5 16*13
# test: run %s --arch a2a3 --verify
# out[2]: f32 16*8.5 16*10 16*11.5 16*13
import slipring.language as pl


@pl.incore
def f(
    a: pl.Tensor[[16, 1], pl.FP32],
    n: pl.Scalar[pl.INT32],
    y: pl.Out[pl.Tensor[[4, 16], pl.FP32]],
):
    row = pl.reshape(a[:], [1, 16])
    for i in pl.range(4):
        y[i : i + 1, :] = row * pl.cast(i + 1, pl.FP32) + pl.cast(n, pl.FP32)
