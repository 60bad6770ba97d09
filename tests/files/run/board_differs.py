# Blocks and tasks that write the same elements leave what the last one wrote. The delays of a board choose which that is, and it may be
# another one than in a run without the board: that is an error of its own, beside the race. With the usual delays the last is the same.
#
# args: zeros:f32[16x64]
# test: run %s --func last_block --device p150 --blocks 4 --delays 1
# exit: 1 with board-differs, race
# check: bytes   findings  other bytes than without the queue
# check: error[board-differs]: the board has left something else in 1024 elements of `out` than the run without the queue
# out[0]: f32 1024*2
# test: run %s --func last_block --device p150 --blocks 4 --delays 4
# exit: 1 with board-differs, race
# out[0]: f32 1024*1
# test: run %s --func last_block --device p150 --blocks 4
# exit: 1 with race
# check: bytes   clean     the same bytes as without the queue
# out[0]: f32 1024*3
# test: run %s --func last_block --blocks 4
# exit: 1 with race
# out[0]: f32 1024*3
# test: run %s --func last_task --device p150 --order 1
# exit: 1 with board-differs, task-race
# check: queue    findings  the hazards of driving the queue, with these delays; other bytes than without the queue
# check: out   f32[16x64]  4096   1 to 1
# out[0]: f32 1024*1
# test: run %s --func last_task --order 1
# exit: 1 with task-race
# out[0]: f32 1024*2
import slipring.language as pl


@pl.incore
def last_block(out: pl.Out[pl.Tensor[[16, 64], pl.FP32]]):
    out[:, :] = pl.full([16, 64], dtype=pl.FP32, value=1.0) * pl.cast(pl.get_block_idx(), pl.FP32)


@pl.incore
def put(out: pl.Out[pl.Tensor[[16, 64], pl.FP32]], n: pl.Scalar[pl.FP32]):
    out[:, :] = pl.full([16, 64], dtype=pl.FP32, value=1.0) * n


@pl.jit
def last_task(out: pl.Out[pl.Tensor[[16, 64], pl.FP32]]):
    put(pl.no_dep(out), 1.0)
    put(pl.no_dep(out), 2.0)
