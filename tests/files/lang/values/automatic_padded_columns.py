# Tiles with padding, divided by the compiler: each core has half of the columns that count, wherever the padding begins.
#
# args: rand:f32[20x16] rand:f32[16x50] rand:f32[20x50] rand:f32[50x24] zeros:f32[20x50] zeros:f32[20x24]
# test: run %s --verify
# check: verify clean
# test: run %s --arch a2a3 --verify
# check: verify clean
import slipring.language as pl


@pl.incore
def f(
    a: pl.Tensor[[20, 16], pl.FP32],
    b: pl.Tensor[[16, 50], pl.FP32],
    x: pl.Tensor[[20, 50], pl.FP32],
    v: pl.Tensor[[50, 24], pl.FP32],
    y: pl.Out[pl.Tensor[[20, 50], pl.FP32]],
    z: pl.Out[pl.Tensor[[20, 24], pl.FP32]],
):
    with pl.at(level=pl.Level.CORE_GROUP, optimizations=[pl.split(pl.SplitMode.LEFT_RIGHT)]):
        c = pl.matmul(a, b)
        t = c * 2.0 + x
        y[:] = t
        z[:] = pl.matmul(t, v) + 1.0
