# What a buffer should hold, as an argument says it: equal, or within a tolerance.
#
# args: iota:f32[4x8] zeros:f32[4x8]
# platforms: a5, a2a3
# test: run %s --expect y=full:f32[4x8]=16,atol=46
# check: expect clean y: all 32 elements as in full:f32[4x8]=16 (atol 46)
# test: run %s --expect y=iota:i32[4x8],rtol=1 --expect x=iota:f32[4x8]
# check: expect clean y: all 32 elements as in iota:i32[4x8] (rtol 1)
# check: expect clean x: all 32 elements as in iota:f32[4x8]
# test: run %s --expect y=iota:f32[4x8],rtol=0.5
# exit: 1
# error-without-place: expected 31 of 32 elements of `y` differ from iota:f32[4x8] (rtol 0.5)
# check: expect findings 31 of 32 elements of `y` differ
# check: the first: y[0, 1] is 2, expected 1
# check: the furthest: y[3, 7] is 62, expected 31
import slipring.language as pl


@pl.incore
def f(x: pl.Tensor[[4, 8], pl.FP32], y: pl.Out[pl.Tensor[[4, 8], pl.FP32]]):
    y[:] = pl.mul(x, 2.0)
