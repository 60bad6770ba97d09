# A number that an offset has twice is said as it is, not doubled.
#
# args: iota:i32[64] 5:i32 6:i32 zeros:i32[8]
# platforms: a5, a2a3
# test: run %s
# check: `x[60:68]` is outside of `x[64]`; k = 30 (line 14)
# exit: 1
import slipring.language as pl


@pl.incore
def f(x: pl.Tensor[[64], pl.INT32], n: pl.Scalar[pl.INT32], m: pl.Scalar[pl.INT32], y: pl.Out[pl.Tensor[[8], pl.INT32]]):
    # No product by a constant.
    k = n * m
    # error: memory-bounds `x[60:68]` is outside of `x[64]`
    y[0:8] = x[k + k : k + k + 8]
