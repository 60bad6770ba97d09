# An argument of 64 bits is said whole: its lower half alone is inside of the tensor.
#
# args: iota:f32[4x8] zeros:f32[8x8] 4294967298:i64
# platforms: a5, a2a3
# test: run %s
# check: `x[4294967298:4294967300, :]` is outside of `x[4, 8]`; first = 4294967298
# exit: 1
import slipring.language as pl


@pl.incore
def f(x: pl.Tensor[[4, 8], pl.FP32], y: pl.Out[pl.Tensor[[8, 8], pl.FP32]], first: pl.Scalar[pl.INT64]):
    # error: memory-bounds `x[4294967298:4294967300, :]` is outside of `x[4, 8]`
    y[0:2, :] = pl.load(x, [first, 0], [2, 8])
