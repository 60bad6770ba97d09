# The second device waits for the first one's signal, which comes after more work: the end waited for the first device until its
# signal, then for the second one. It is so in whatever order the two are looked at, and what a task waited is no work of its own.
#
# platforms: a5, a2a3
# test: run %s --func held --devices 2 --verify --arg zeros:f32[2x64x64]
# check: tasks clean
# check: verify clean
# check: of the time: #0 work → #1 work
# check: the end waited for: #0 work → #1 work (on a signal of #0)
# out[0]: f32 4096*16 4096*32
# test: run %s --func held --devices 2 --order 3 --arg zeros:f32[2x64x64]
# check: the end waited for: #0 work → #1 work (on a signal of #0)
# test: run %s --func held --devices 2 --json --arg zeros:f32[2x64x64]
# check: "held_up": [
# check: "task": 0,
# check: "by": "begin",
# check: "task": 1,
# check: "by": "signal",
# check: "number": 0
# test: run %s --device p150 --arg zeros:f32[2x64x64]
# exit: 2
# check: a program of 2 devices is not sent to one board
import pypto.language as pl
import pypto.language.distributed as pld

NR = pl.dynamic("NR")


@pl.jit.incore
def work(
    y: pl.Out[pl.Tensor[[64, 64], pl.FP32]],
    data: pld.DistributedTensor[[64, 64], pl.FP32],
    signal: pld.DistributedTensor[[1, 1], pl.INT32],
):
    rank = pld.rank(pld.get_comm_ctx(data))
    if rank == 0:
        data = pl.store(pl.full([64, 64], pl.FP32, 1.0), [0, 0], data)
        for i in pl.range(4):
            twice = pl.load(data, [0, 0], [64, 64])
            data = pl.store(pl.add(twice, twice), [0, 0], data)
        pld.system.notify(signal, peer=1, offsets=[0, 0], value=1, op=pld.NotifyOp.AtomicAdd)
        y = pl.store(pl.load(data, [0, 0], [64, 64]), [0, 0], y)
    else:
        pld.system.wait(signal, offsets=[0, 0], expected=1, cmp=pld.WaitCmp.Ge)
        there = pld.tile.remote_load(data, peer=0, offsets=[0, 0], shape=[64, 64])
        y = pl.store(pl.add(there, there), [0, 0], y)
    return y


@pl.jit
def work_on(
    y: pl.Out[pl.Tensor[[64, 64], pl.FP32]],
    data: pld.DistributedTensor[[64, 64], pl.FP32],
    signal: pld.DistributedTensor[[1, 1], pl.INT32],
):
    return work(y, data, signal)


@pl.jit.host
def held(y: pl.Out[pl.Tensor[[NR, 64, 64], pl.FP32]]):
    data_buf = pld.alloc_window_buffer([64, 64], dtype=pl.FP32)
    signal_buf = pld.alloc_window_buffer([1, 1], dtype=pl.INT32)
    for r in pl.range(pld.world_size()):
        data = pld.window(data_buf, [64, 64], dtype=pl.FP32)
        signal = pld.window(signal_buf, [1, 1], dtype=pl.INT32)
        work_on(y[r], data, signal, device=r)
