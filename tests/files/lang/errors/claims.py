# A claim that does not hold is a finding with the values.
#
# args: iota:f32[4x8] zeros:f32[4x8] 5:i32
# platforms: a5, a2a3
# test: run %s
# check: `i + n <= 6` does not hold: row 2 of 5; i + n = 7 (AIV0, block 0, i = 2)
# exit: 1
import slipring.language as pl


@pl.incore
def f(x: pl.Tensor[[4, 8], pl.FP32], y: pl.Out[pl.Tensor[[4, 8], pl.FP32]], n: pl.Scalar[pl.INT32]):
    for i in pl.range(0, 4, 2):
        # error: assert `i + n <= 6` does not hold
        assert i + n <= 6, f"row {i} of {n}"
        y[i : i + 2, :] = x[i : i + 2, :]
