# A slice of columns goes to the Cube core as a tile of its own size, whatever it is a part of.
#
# args: full:f32[32x64]=1 full:f32[64x32]=1 zeros:f32[32x32] zeros:f32[32x32]
# test: run %s --arch a5 --verify
# check: init clean
# check: verify clean
# out[2]: f32 1024*64
# test: run %s --arch a2a3 --verify
# check: init clean
# check: verify clean
# out[2]: f32 1024*64
import slipring.language as pl


@pl.incore
def f(
    a: pl.Tensor[[32, 64], pl.FP32],
    b: pl.Tensor[[64, 32], pl.FP32],
    x: pl.Out[pl.Tensor[[32, 32], pl.FP32]],
    y: pl.Out[pl.Tensor[[32, 32], pl.FP32]],
):
    y[:] = pl.matmul(a * 2.0, b)
    y[:] = pl.matmul(a * 3.0, b)
    t = a + 1.0
    x[:] = pl.matmul(t[0:32, 0:32], b[0:32, 0:32])
