# A tensor that the kernel makes holds nothing until it is written: only four of its rows are, and all are computed with.
#
# args: full:f32[32x64]=1.5 4:i32 full:f32[32x64]=9
# platforms: a5, a2a3
# test: run %s
# exit: 1
# check: init    findings
# test: run %s --verify --strict
# exit: 1
# check: init    findings
# test: run %s --arg full:f32[32x64]=1.5 --arg 32:i32 --arg zeros:f32[32x64]
# check: init    clean
# out[2]: f32 2048*3
# test: prove %s --arg full:f32[32x64]=1.5 --arg 32:i32 --arg zeros:f32[32x64]
# exit: 1
# check: violated: scratch
# check: n = 0 is the smallest that fails
import slipring.language as pl


@pl.incore
def scratch(
    x: pl.Tensor[[32, 64], pl.FP32], n: pl.Scalar[pl.INT32], out: pl.Out[pl.Tensor[[32, 64], pl.FP32]]
):
    t = pl.create_tensor([32, 64], dtype=pl.FP32)
    for i in pl.range(n):
        t[i : i + 1, :] = x[i : i + 1, :]
    # error: uninitialised-read `pto.tmuls` computes with uninitialised bytes
    out[:, :] = t[:, :] * 2.0
