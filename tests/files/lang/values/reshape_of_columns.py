# A slice of columns keeps the distances of its tile: what looks at it in another shape looks at a copy.
#
# args: iota:f32[4x16] zeros:f32[2x16]
# test: run %s --verify
# check: init clean
# check: verify clean
# out[1]: f32 0 1 2 3 4 5 6 7 16 17 18 19 20 21 22 23 32 33 34 35 36 37 38 39 48 49 50 51 52 53 54 55
import slipring.language as pl


@pl.incore
def f(a: pl.Tensor[[4, 16], pl.FP32], x: pl.Out[pl.Tensor[[2, 16], pl.FP32]]):
    t = a[0:4, 0:16] + 0.0
    x[:] = pl.reshape(t[0:4, 0:8], [2, 16])
