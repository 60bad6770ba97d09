# What a kernel reads of its output it has written before, row by row: for every number of rows. Where it reads one row more, every
# number but none is wrong. A launch that does not write all of its outputs is doubtful, and so it is said that none is written for
# no rows.
#
# args: rand:f32[64x64] 8:i32 zeros:f32[64x64] zeros:f32[64x64]
# platforms: a5, a2a3
# test: prove %s --func after
# exit: 3
# check: doubtful: after
# check: this run does not write elements 512 to 4095 of buffer `out`
# check: with n = 0 nothing of `out` and `other` is written
# check: arguments do not overlap in memory
# test: prove %s --func after --arg n=64:i32
# check: proved: after
# check: with n = 0 nothing of `out` and `other` is written
# check: arguments do not overlap in memory
# test: prove %s --func ahead
# exit: 1
# check: violated: ahead
# check: n = 1 is the smallest that fails; 0 is clean
import slipring.language as pl


@pl.incore
def after(
    x: pl.Tensor[[64, 64], pl.FP32],
    n: pl.Scalar[pl.INT32],
    out: pl.Out[pl.Tensor[[64, 64], pl.FP32]],
    other: pl.Out[pl.Tensor[[64, 64], pl.FP32]],
):
    for i in pl.range(n):
        out[i : i + 1, :] = x[i : i + 1, :]
        other[i : i + 1, :] = out[i : i + 1, :] * 2.0


@pl.incore
def ahead(
    x: pl.Tensor[[64, 64], pl.FP32],
    n: pl.Scalar[pl.INT32],
    out: pl.Out[pl.Tensor[[64, 64], pl.FP32]],
    other: pl.Out[pl.Tensor[[64, 64], pl.FP32]],
):
    for i in pl.range(n):
        out[i : i + 1, :] = x[i : i + 1, :]
        other[i : i + 1, :] = out[i + 1 : i + 2, :] * 2.0
