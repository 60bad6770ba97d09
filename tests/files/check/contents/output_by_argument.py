# What an output holds where a launch does not write it is nobody's: the run says so, and a proof is doubtful. It is not where only
# other launches, those of fewer rounds, write less; that none is written at all is said.
#
# args: rand:f32[32x64],seed=1 1:i32 zeros:f32[32x64]
# test: run %s --arch a5
# check: init warnings
# check: output-in-part]: this run does not write elements 1024 to 2047 of buffer `out`, which is an output
# test: run %s --arch a2a3 --arg n=0:i32
# check: blocks on a2a3 (1 Cube + 2 Vector cores a cluster, rings in global memory), 1 block, AIV0, flags inserted
# check: checked
# check: memory clean every access inside its buffer or memory
# check: sync clean deadlock, flags set twice or left set, slots held or never popped
# check: race clean conflicting accesses without an order
# check: init warnings reads of uninitialised bytes
# check: scope all schedules, any contents of the buffers; for n = 0
# check: time: 9 cycles (0.00 us, estimate), 10 scalar instructions
# check: core pipe busy % stalled operations bytes read written waits
# check: AIV0 S 0 0 0 0 0 0
# check: warning[output-unwritten]: this run does not write buffer `out`, which is an output
# check: |
# check: = help: those bytes are uninitialised: write them in every launch, or declare the parameter `pl.InOut[…]` if the caller provides the rest
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
# check: doubtful: blocks on a5, 1 block
# check: because `output-unwritten`: this run does not write buffer `out`, which is an output
# check: schedules all
# check: values any contents of the buffers
# check: counts every n from 0 on, while numbers fit their types and buffers are large enough: 0 to 2 were run, and each 1 more do what was seen; with n = 0 nothing of `out` is written
# check: loops all end: counters with constant bounds
# check: launches any number: each leaves the signals as it found them
# check: given each pipe executes its operations in order
# check: arguments do not overlap in memory
# check: explored 1 run with all checks, 3 values of n
# check: warning[output-unwritten]: this run does not write buffer `out`, which is an output
# check: |
# check: = help: those bytes are uninitialised: write them in every launch, or declare the parameter `pl.InOut[…]` if the caller provides the rest
# check: error: doubtful: `output-unwritten`: this run does not write buffer `out`, which is an output
# exit: 3
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
