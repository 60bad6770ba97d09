# A pipelined loop computes what a plain one does.
#
# args: iota:f32[4x8] zeros:f32[4x8]
# test: run %s --verify
# check: verify clean
# out[1]: f32 0 2 4 6 8 10 12 14 16 18 20 22 24 26 28 30 32 34 36 38 40 42 44 46 48 50 52 54 56 58 60 62
import slipring.language as pl


@pl.incore
def f(x: pl.Tensor[[4, 8], pl.FP32], y: pl.Out[pl.Tensor[[4, 8], pl.FP32]]):
    for i in pl.pipeline(4, stage=2):
        y[i : i + 1, :] = x[i : i + 1, :] * 2.0
