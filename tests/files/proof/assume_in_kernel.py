# What the kernel assumes of its launches bounds what is tried, and a launch that does not satisfy it is a finding. Constants of the
# file are put in, and what holds anyway is left out.
#
# args: rand:f32[64x64] 8:i32 zeros:f32[64x64]
# platforms: a5, a2a3
# test: prove %s --func rows
# exit: 3
# check: doubtful: rows
# check: `output-in-part`: this run does not write elements 512 to 4095 of buffer `out`, which is an output
# check: the arguments satisfy `0 <= n`, `n <= 16`, `n % 4 == 0`
# test: run %s --func rows --arg n=6:i32
# exit: 1
# check: error[assumption]: the arguments do not satisfy `n % 4 == 0`, which is assumed
# test: run %s --func rows --assume n<4
# exit: 1
# check: error[assumption]: the arguments do not satisfy `n<4`, which is assumed
# test: run %s --func rows
# check: race clean
import slipring.language as pl

MOST = 8


@pl.incore
def rows(
    x: pl.Tensor[[64, 64], pl.FP32],
    n: pl.Scalar[pl.INT32],
    out: pl.Out[pl.Tensor[[64, 64], pl.FP32]],
):
    pl.assume(0 <= n <= MOST // 2 * 4, n % 4 == 0 and MOST > 4)
    for i in pl.range(n):
        out[i : i + 1, :] = x[i : i + 1, :]
