# What an output holds where a launch does not write it is nobody's, and the run says so. A proof is of all launches, among them
# those of fewer rounds.
#
# args: rand:f32[32x64],seed=1 1:i32 zeros:f32[32x64]
# test: run %s --arch a5
# check: init warnings
# check: output-in-part]: this run does not write elements 1024 to 2047 of buffer `out`, which is an output
# test: run %s --arch a2a3 --arg n=0:i32
# check: output-in-part]: this run writes nothing of buffer `out`, which is an output
# test: run %s --arch a5 --arg n=2:i32
# check: init clean
# test: run %s --arch a5 --strict
# exit: 1
# error-without-place: output-in-part this run does not write elements 1024 to 2047 of buffer `out`
# test: prove %s --arch a5
# check: proved: blocks on a5
import slipring.language as pl


@pl.incore
def blocks(
    x: pl.Tensor[[32, 64], pl.FP32],
    n: pl.Scalar[pl.INT32],
    out: pl.Out[pl.Tensor[[32, 64], pl.FP32]],
):
    for i in pl.range(n):
        out[i * 16 : i * 16 + 16, :] = x[i * 16 : i * 16 + 16, :]
