# With n = 0 the tile has no contents when it is stored: the warning names that launch, since the given one is clean.
#
# args: iota:f32[64x64] 2:i32 zeros:f32[8x64]
# platforms: a5, a2a3
# test: prove %s
# exit: 3
# check: doubtful
# check: warning[uninitialised-output]: `pto.tstore` stores uninitialised bytes: elements 0 to 511 of buffer `y` are uninitialised
# check: = note: in a launch with n = 0
# test: run %s
# check: init clean
import slipring.language as pl


@pl.incore
def k(x: pl.Tensor[[64, 64], pl.FP32], n: pl.Scalar[pl.INT32], y: pl.Out[pl.Tensor[[8, 64], pl.FP32]]):
    for i in pl.range(n):
        t = x[i * 8 : i * 8 + 8, :] * 2.0
    y[:, :] = t
