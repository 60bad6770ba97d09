# The number of Vector cores by its name.
#
# platforms: a5, a2a3
# test: run %s --verify
# check: race clean
# check: init clean
# check: verify clean
# out[1]: f32 512*1.5
# args: full:f32[32x16]=0.5 zeros:f32[32x16]
import slipring.language as pl


@pl.incore
def f(x: pl.Tensor[[32, 16], pl.FP32], y: pl.Out[pl.Tensor[[32, 16], pl.FP32]]):
    for lane in pl.split_aiv(n=2, mode=pl.SplitMode.UP_DOWN):
        row = lane * 16
        y[row : row + 16, :] = x[row : row + 16, :] * 3.0
