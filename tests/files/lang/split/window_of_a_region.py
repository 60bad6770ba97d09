# A lane's window of an input is its own after the region too: an accumulator that begins as a window.
#
# args: iota:f32[2x8] zeros:f32[2x8]
# test: run %s --verify
# check: verify clean
# out[1]: f32 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17
# test: run %s --arch a2a3 --verify
# check: verify clean
# out[1]: f32 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17
import slipring.language as pl


@pl.incore
def f(x: pl.Tensor[[2, 8], pl.FP32], y: pl.Out[pl.Tensor[[2, 8], pl.FP32]]):
    for lane in pl.split_aiv(2, mode=pl.SplitMode.NONE):
        acc = x[lane : lane + 1, :]
    for lane in pl.split_aiv(2, mode=pl.SplitMode.NONE):
        acc = acc + 2.0
    for lane in pl.split_aiv(2, mode=pl.SplitMode.NONE):
        y[lane : lane + 1, :] = acc
