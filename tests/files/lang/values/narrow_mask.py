# Masks of at most eight columns: a byte for each row.
#
# args: iota:f32[2x8] zeros:f32[2x8]
# test: run %s --verify
# check: verify clean
# out[1]: f32 6*-7 6 7 8 9 10 11 12 13 14 15
# test: run %s --arch a2a3 --verify
# check: verify clean
# out[1]: f32 6*-7 6 7 8 9 10 11 12 13 14 15
import slipring.language as pl


@pl.incore
def f(x: pl.Tensor[[2, 8], pl.FP32], y: pl.Out[pl.Tensor[[2, 8], pl.FP32]]):
    t = pl.load(x, [0, 0], [2, 8])
    y[:] = pl.sels(pl.cmps(t, 5.0, cmp_type="gt"), t, -7.0)
