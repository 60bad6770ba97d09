# The number of a predicate is read when the task could start. That a scope names it there gives the task no order with
# the task that writes it.
#
# test: run %s --arch a5 --arg x=iota:f32[16x16] --arg n=zeros:i32[1] --arg y=zeros:f32[16x16]
# exit: 1 with task-race
# check: error[task-race]: `main_at_16` and `main_at_18` touch the same bytes of `n`, and nothing orders them
# check: = note: the predicate of `main_at_18` reads them when the task could start
import pypto.language as pl

X = pl.Tensor[[16, 16], pl.FP32]
N = pl.Tensor[[1], pl.INT32]


@pl.jit
def main(x: X, n: pl.InOut[N], y: pl.Out[X]):
    with pl.at(level=pl.Level.CORE_GROUP):
        pl.write(n, [0], 1)
    with pl.spmd(2, predicate=(n[0] > 0)):
        i = pl.get_block_idx()
        y[i * 8 : i * 8 + 8, :] = pl.add(x[i * 8 : i * 8 + 8, :], 1.0)
    return y
