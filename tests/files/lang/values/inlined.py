# Functions of the file are inlined where they are called: with tiles, numbers and defaults, returning one value or several.
#
# args: iota:f32[1x8] zeros:f32[3x8]
# test: run %s --verify
# check: verify clean
# out[1]: f32 0 2 4 6 8 10 12 14  1 4 7 10 13 16 19 22  -1 -1 -1 -1 -1 -1 -1 -1
import slipring.language as pl


@pl.inline
def scaled(t, factor, plus=0.0):
    return t * factor + plus


@pl.inline
def both(t):
    return scaled(t, 2.0), scaled(t, 3.0, plus=1.0)


@pl.incore
def f(x: pl.Tensor[[1, 8], pl.FP32], y: pl.Out[pl.Tensor[[3, 8], pl.FP32]]):
    t = pl.load(x, [0, 0], [1, 8])
    double, triple = both(t)
    y[0:1, :] = double
    y[1:2, :] = triple
    y[2:3, :] = double + t - triple
