# A slice outside of its tensor is said as it was written, with what its numbers were.
#
# args: iota:f32[4x8] zeros:f32[8x8] 7:i32
# platforms: a5, a2a3
# test: run %s
# check: `x[4:6, :]` is outside of `x[4, 8]`; i = 4 (line 15), rows = 7
# check: reads 64 bytes at byte 128 of buffer `x`
# exit: 1
import slipring.language as pl


@pl.incore
def f(x: pl.Tensor[[4, 8], pl.FP32], y: pl.Out[pl.Tensor[[8, 8], pl.FP32]], rows: pl.Scalar[pl.INT32]):
    # Where it ends only the run knows.
    for i in pl.range(0, rows, 2):
        # error: memory-bounds `x[4:6, :]` is outside of `x[4, 8]`
        y[i : i + 2, :] = x[i : i + 2, :]
