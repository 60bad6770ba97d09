# A whole program through a board's queue: its tensors stay on one board, and tasks that nothing orders run at the same time. Options and
# verdicts are those of a run without the board.
#
# args: full:f32[32x64]=1.5 zeros:f32[32x64]
# test: run %s --func right --device p150
# check: queue    clean  the hazards of driving the queue, with these delays; the same bytes as without the queue
# check: 2 of 2 tasks launched through the command queue of a p150, 2 launches of its 138 workers
# out[1]: f32 2048*3
# test: run %s --func right --device p150 --clusters 2 --order 1
# check: 2 launches of its 2 workers
# out[1]: f32 2048*3
# test: run %s --func right --device p150 --json
# check: "launched": 2
# test: run %s --func right --device p150 --expect out=full:f32[32x64]=3
# test: run %s --func right --device p150 --expect out=full:f32[32x64]=4
# exit: 1 with expected
# test: run %s --func right --device p150 --verify
# exit: 2
# check: error: `--verify` is not for a run on a board: run it without `--device`
# test: run %s --func many --device p150 --delays 3
# check: the same bytes as without the queue
# check: 3 of 3 tasks launched through the command queue of a p150, 292 launches of its 138 workers
# out[1]: f32 2048*4
# test: run %s --func wrong --device p150
# exit: 1 with task-unwritten
# check: reads `t`, which was never written
import slipring.language as pl


@pl.jit
def right(x: pl.Tensor[[32, 64], pl.FP32], out: pl.Out[pl.Tensor[[32, 64], pl.FP32]]):
    with pl.at(level=pl.Level.CORE_GROUP):
        out[0:16, :] = x[0:16, :] * 2.0
    with pl.at(level=pl.Level.CORE_GROUP):
        out[16:32, :] = x[16:32, :] * 2.0


@pl.jit
def wrong(x: pl.Tensor[[32, 64], pl.FP32], out: pl.Out[pl.Tensor[[32, 64], pl.FP32]]):
    t = pl.create_tensor([32, 64], dtype=pl.FP32)
    with pl.at(level=pl.Level.CORE_GROUP):
        t[0:16, :] = x[0:16, :]
    with pl.at(level=pl.Level.CORE_GROUP):
        out[:, :] = t[:, :] * 2.0


@pl.jit
def many(x: pl.Tensor[[32, 64], pl.FP32], out: pl.Out[pl.Tensor[[32, 64], pl.FP32]]):
    a = pl.create_tensor([290, 64], dtype=pl.FP32)
    for i in pl.spmd(290, name_hint="more_blocks_than_workers"):
        a[i : i + 1, :] = x[0:1, :] * 2.0
    with pl.at(level=pl.Level.CORE_GROUP):
        out[0:16, :] = a[0:16, :] + 1.0
    with pl.at(level=pl.Level.CORE_GROUP):
        out[16:32, :] = a[274:290, :] + 1.0
