# An output holds nothing at first, whatever is passed for it: to read it before it is written is an error. What the kernel
# wrote there itself it may read.
#
# args: full:f32[32x64]=1.5 4:i32 full:f32[32x64]=9 zeros:f32[32x64]
# platforms: a5, a2a3
# test: run %s
# exit: 1
# check: init    findings
# test: run %s --arg full:f32[32x64]=1.5 --arg 32:i32 --arg full:f32[32x64]=9 --arg zeros:f32[32x64] --verify
# check: init    clean
# out[2]: f32 2048*1.5
# out[3]: f32 2048*3
import slipring.language as pl


@pl.incore
def read_back(
    x: pl.Tensor[[32, 64], pl.FP32],
    n: pl.Scalar[pl.INT32],
    out: pl.Out[pl.Tensor[[32, 64], pl.FP32]],
    other: pl.Out[pl.Tensor[[32, 64], pl.FP32]],
):
    for i in pl.range(n):
        out[i : i + 1, :] = x[i : i + 1, :]
    # error: uninitialised-read `pto.tmuls` computes with uninitialised bytes, and `pto.tstore` stores the result: elements 256 to 2047 of buffer `other`
    other[:, :] = out[:, :] * 2.0
