# A signal that is read as a number, while others may change it: the value depends on the order. After a wait that only ends when all
# have changed it, it does not.
#
# args: zeros:f32[3x1x64]
# platforms: a5, a2a3
# test: run %s --func early --devices 3
# exit: 1 with task-race 2
# check: tasks findings
# check: this order only (tasks race)
# check: error[task-race]: `reads_early` (r = 0) and `reads_early` (r = 1) touch the same bytes of `window1`, and nothing orders them
# test: run %s --func early --devices 3 --order 3
# exit: 1 with task-race 2
# test: run %s --func late --devices 3
# check: tasks clean
# check: all orders of the tasks on 3 devices
# out[0]: f32 64*4.0 …
# test: run %s --func between --devices 1
# exit: 1
# check: error[race]: `pto.load_scalar` on the scalar unit of AIV0 in block 0 reads bytes 0 to 3 of buffer `signal`, which `pto.comm.tnotify` on the scalar unit of AIV0 in block 1 writes, and nothing orders the two
import slipring.language as pl
import slipring.language.distributed as pld

DATA = [1, 64]


@pl.jit.incore
def reads_early(
    y: pl.Out[pl.Tensor[DATA, pl.FP32]],
    data: pld.DistributedTensor[DATA, pl.FP32],
    signal: pld.DistributedTensor[[2, 1], pl.INT32],
):
    ctx = pld.get_comm_ctx(data)
    peer = (pld.rank(ctx) + 1) % pld.nranks(ctx)
    pld.system.notify(signal, peer=peer, offsets=[0, 0], value=1, op=pld.NotifyOp.AtomicAdd)
    count = pl.read(signal, [0, 0])
    pld.system.wait(signal, offsets=[0, 0], expected=1, cmp=pld.WaitCmp.Ge)
    return pl.store(pl.full([1, 64], pl.FP32, 3.0) + pl.cast(count, pl.FP32), [0, 0], y)


@pl.jit.incore
def reads_late(
    y: pl.Out[pl.Tensor[DATA, pl.FP32]],
    data: pld.DistributedTensor[DATA, pl.FP32],
    signal: pld.DistributedTensor[[2, 1], pl.INT32],
):
    ctx = pld.get_comm_ctx(data)
    peer = (pld.rank(ctx) + 1) % pld.nranks(ctx)
    pld.system.notify(signal, peer=peer, offsets=[0, 0], value=1, op=pld.NotifyOp.AtomicAdd)
    pld.system.wait(signal, offsets=[0, 0], expected=1, cmp=pld.WaitCmp.Ge)
    count = pl.read(signal, [0, 0])
    return pl.store(pl.full([1, 64], pl.FP32, 3.0) + pl.cast(count, pl.FP32), [0, 0], y)


@pl.jit.incore
def of_blocks(
    y: pl.InOut[pl.Tensor[DATA, pl.FP32]],
    data: pld.DistributedTensor[DATA, pl.FP32],
    signal: pld.DistributedTensor[[2, 1], pl.INT32],
):
    own = pl.get_block_idx()
    rank = pld.rank(pld.get_comm_ctx(data))
    pld.system.notify(signal, peer=rank, offsets=[1 - own, 0], value=1, op=pld.NotifyOp.AtomicAdd)
    count = pl.read(signal, [own, 0])
    pld.system.wait(signal, offsets=[own, 0], expected=1, cmp=pld.WaitCmp.Ge)
    if own == 0:
        y = pl.store(pl.full([1, 64], pl.FP32, 3.0) + pl.cast(count, pl.FP32), [0, 0], y)
    return y


@pl.jit
def two_blocks(
    y: pl.InOut[pl.Tensor[DATA, pl.FP32]],
    data: pld.DistributedTensor[DATA, pl.FP32],
    signal: pld.DistributedTensor[[2, 1], pl.INT32],
):
    for _ in pl.spmd(2):
        y = of_blocks(y, data, signal)
    return y


@pl.jit.host
def early(y: pl.Out[pl.Tensor[[3, 1, 64], pl.FP32]]):
    of_data = pld.alloc_window_buffer(DATA, dtype=pl.FP32)
    of_signals = pld.alloc_window_buffer([2, 1], dtype=pl.INT32)
    for r in pl.range(pld.world_size()):
        data = pld.window(of_data, DATA, dtype=pl.FP32)
        signal = pld.window(of_signals, [2, 1], dtype=pl.INT32)
        reads_early(y[r], data, signal, device=r)


@pl.jit.host
def late(y: pl.Out[pl.Tensor[[3, 1, 64], pl.FP32]]):
    of_data = pld.alloc_window_buffer(DATA, dtype=pl.FP32)
    of_signals = pld.alloc_window_buffer([2, 1], dtype=pl.INT32)
    for r in pl.range(pld.world_size()):
        data = pld.window(of_data, DATA, dtype=pl.FP32)
        signal = pld.window(of_signals, [2, 1], dtype=pl.INT32)
        reads_late(y[r], data, signal, device=r)


@pl.jit.host
def between(y: pl.InOut[pl.Tensor[[3, 1, 64], pl.FP32]]):
    of_data = pld.alloc_window_buffer(DATA, dtype=pl.FP32)
    of_signals = pld.alloc_window_buffer([2, 1], dtype=pl.INT32)
    for r in pl.range(pld.world_size()):
        data = pld.window(of_data, DATA, dtype=pl.FP32)
        signal = pld.window(of_signals, [2, 1], dtype=pl.INT32)
        two_blocks(y[r], data, signal, device=r)
