# What an output holds where a launch does not write it is nobody's: the run says so, and a proof is doubtful. It is not where only
# other launches, those of fewer rounds, write less; that none is written at all is said.
#
# args: rand:f32[32x64],seed=1 1:i32 zeros:f32[32x64]
# test: run %s --arch a5
# check: init warnings
# check: output-in-part]: this run does not write elements 1024 to 2047 of buffer `out`, which is an output
# test: run %s --arch a2a3 --arg n=0:i32
# check: output-unwritten]: this run does not write buffer `out`, which is an output
# test: run %s --arch a5 --arg n=2:i32
# check: init clean
# test: run %s --arch a5 --strict
# exit: 1
# error-without-place: output-in-part this run does not write elements 1024 to 2047 of buffer `out`
# test: prove %s --arch a5
# exit: 3
# check: doubtful: blocks on a5
# check: this run does not write elements 1024 to 2047 of buffer `out`
# test: prove %s --arch a5 --arg n=0:i32
# exit: 3
# check: doubtful: blocks on a5
# check: this run does not write buffer `out`
# test: prove %s --arch a5 --arg n=2:i32
# check: proved: blocks on a5
# check: with n = 0 nothing of `out` is written
# test: prove %s --arch a5 --arg n=2:i32 --assume n>0
# check: proved: blocks on a5
# check-not: nothing of
import slipring.language as pl


@pl.incore
def blocks(
    x: pl.Tensor[[32, 64], pl.FP32],
    n: pl.Scalar[pl.INT32],
    out: pl.Out[pl.Tensor[[32, 64], pl.FP32]],
):
    for i in pl.range(n):
        out[i * 16 : i * 16 + 16, :] = x[i * 16 : i * 16 + 16, :]
