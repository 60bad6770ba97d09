# What is found in a run is found through a board's queue as well: blocks that write the same bytes, bytes that nobody wrote.
#
# args: rand:f32[32x64] 4:i32 zeros:f32[32x64]
# test: run %s --blocks 2 --device p150
# exit: 1 with race 3, uninitialised-read
# check: race findings
# check: init findings
# check: error[race]: `pto.tstore` on pipe MTE3 of AIV0 in block 1 writes bytes
# check: error[uninitialised-read]: `pto.tmuls` computes with uninitialised bytes
# test: run %s --blocks 1 --device p150 --max-steps 20
# exit: 1 with step-limit, worker-fault
# check: error[step-limit]
# test: run %s --device p150 --clusters 2
# exit: 2
# check: `--clusters` is for whole programs, and this is a kernel
import slipring.language as pl


@pl.incore
def racy(x: pl.Tensor[[32, 64], pl.FP32], n: pl.Scalar[pl.INT32], out: pl.Out[pl.Tensor[[32, 64], pl.FP32]]):
    t = pl.create_tensor([32, 64], dtype=pl.FP32)
    for i in pl.range(n):
        t[i : i + 1, :] = x[i : i + 1, :]
    out[:, :] = t[:, :] * 2.0
