# Waits that may be over without a change, or never: at first a signal is 0, which ends a wait for 0; a number that another device sets
# in place of the one that is waited for, or that goes on to grow, may be gone when the wait looks. A number that one device sets
# and then adds to is there in one order only.
#
# platforms: a5, a2a3
# test: run %s --func zero --arg zeros:f32[2x1x64]
# exit: 1
# check: error[task-race]: `reads_at_0` (r = 0) and `reads_at_0` (r = 1) touch the same bytes of `window0`, and nothing orders them
# test: run %s --func set_over --devices 3 --arg zeros:f32[3x1x64]
# check: tasks clean
# check: this order only (in another order `waits_for_1` (r = 1) may wait forever)
# test: run %s --func grown --arg zeros:f32[2x1x64]
# check: tasks clean
# check: this order only (in another order `waits_for_just_1` (r = 1) may wait forever)
# test: run %s --func set_then_added --arg zeros:f32[2x1x64]
# check: tasks clean
# check: all orders of the tasks on 2 devices
import pypto.language as pl
import pypto.language.distributed as pld


@pl.jit.incore
def reads_at_0(
    y: pl.Out[pl.Tensor[[1, 64], pl.FP32]],
    data: pld.DistributedTensor[[1, 64], pl.FP32],
    signal: pld.DistributedTensor[[1, 1], pl.INT32],
):
    if pld.rank(pld.get_comm_ctx(data)) == 0:
        pld.tile.remote_store(pl.full([1, 64], pl.FP32, 2.0), data, peer=1, offsets=[0, 0])
        pld.system.notify(signal, peer=1, offsets=[0, 0], value=0, op=pld.NotifyOp.Set)
        y = pl.store(pl.full([1, 64], pl.FP32, 1.0), [0, 0], y)
    else:
        pld.system.wait(signal, offsets=[0, 0], expected=0, cmp=pld.WaitCmp.Eq)
        y = pl.store(pl.load(data, [0, 0], [1, 64]), [0, 0], y)
    return y


@pl.jit.incore
def waits_for_1(
    y: pl.Out[pl.Tensor[[1, 64], pl.FP32]],
    data: pld.DistributedTensor[[1, 64], pl.FP32],
    signal: pld.DistributedTensor[[1, 1], pl.INT32],
):
    rank = pld.rank(pld.get_comm_ctx(data))
    if rank == 0:
        pld.system.notify(signal, peer=1, offsets=[0, 0], value=1, op=pld.NotifyOp.Set)
    if rank == 1:
        pld.system.wait(signal, offsets=[0, 0], expected=1, cmp=pld.WaitCmp.Ge)
    if rank == 2:
        data = pl.store(pl.full([1, 64], pl.FP32, 2.0), [0, 0], data)
        data = pl.store(pl.exp(pl.load(data, [0, 0], [1, 64])), [0, 0], data)
        pld.system.notify(signal, peer=1, offsets=[0, 0], value=0, op=pld.NotifyOp.Set)
    y = pl.store(pl.full([1, 64], pl.FP32, 1.0), [0, 0], y)
    return y


@pl.jit.incore
def waits_for_just_1(
    y: pl.Out[pl.Tensor[[1, 64], pl.FP32]],
    data: pld.DistributedTensor[[1, 64], pl.FP32],
    signal: pld.DistributedTensor[[2, 1], pl.INT32],
):
    if pld.rank(pld.get_comm_ctx(data)) == 0:
        pld.system.notify(signal, peer=1, offsets=[0, 0], value=1, op=pld.NotifyOp.AtomicAdd)
        pld.system.wait(signal, offsets=[1, 0], expected=1, cmp=pld.WaitCmp.Ge)
        pld.system.notify(signal, peer=1, offsets=[0, 0], value=1, op=pld.NotifyOp.AtomicAdd)
    else:
        pld.system.wait(signal, offsets=[0, 0], expected=1, cmp=pld.WaitCmp.Ge)
        pld.system.notify(signal, peer=0, offsets=[1, 0], value=1, op=pld.NotifyOp.AtomicAdd)
        pld.system.wait(signal, offsets=[0, 0], expected=1, cmp=pld.WaitCmp.Eq)
    y = pl.store(pl.full([1, 64], pl.FP32, 1.0), [0, 0], y)
    return y


@pl.jit.incore
def needs_both(
    y: pl.Out[pl.Tensor[[1, 64], pl.FP32]],
    data: pld.DistributedTensor[[1, 64], pl.FP32],
    signal: pld.DistributedTensor[[1, 1], pl.INT32],
):
    if pld.rank(pld.get_comm_ctx(data)) == 0:
        pld.system.notify(signal, peer=1, offsets=[0, 0], value=1, op=pld.NotifyOp.Set)
        pld.tile.remote_store(pl.full([1, 64], pl.FP32, 2.0), data, peer=1, offsets=[0, 0])
        pld.system.notify(signal, peer=1, offsets=[0, 0], value=1, op=pld.NotifyOp.AtomicAdd)
        y = pl.store(pl.full([1, 64], pl.FP32, 1.0), [0, 0], y)
    else:
        pld.system.wait(signal, offsets=[0, 0], expected=2, cmp=pld.WaitCmp.Ge)
        y = pl.store(pl.load(data, [0, 0], [1, 64]), [0, 0], y)
    return y


@pl.jit
def reads_at_0_on(
    y: pl.Out[pl.Tensor[[1, 64], pl.FP32]],
    data: pld.DistributedTensor[[1, 64], pl.FP32],
    signal: pld.DistributedTensor[[1, 1], pl.INT32],
):
    return reads_at_0(y, data, signal)


@pl.jit
def waits_for_1_on(
    y: pl.Out[pl.Tensor[[1, 64], pl.FP32]],
    data: pld.DistributedTensor[[1, 64], pl.FP32],
    signal: pld.DistributedTensor[[1, 1], pl.INT32],
):
    return waits_for_1(y, data, signal)


@pl.jit
def waits_for_just_1_on(
    y: pl.Out[pl.Tensor[[1, 64], pl.FP32]],
    data: pld.DistributedTensor[[1, 64], pl.FP32],
    signal: pld.DistributedTensor[[2, 1], pl.INT32],
):
    return waits_for_just_1(y, data, signal)


@pl.jit
def needs_both_on(
    y: pl.Out[pl.Tensor[[1, 64], pl.FP32]],
    data: pld.DistributedTensor[[1, 64], pl.FP32],
    signal: pld.DistributedTensor[[1, 1], pl.INT32],
):
    return needs_both(y, data, signal)


@pl.jit.host
def zero(y: pl.Out[pl.Tensor[[2, 1, 64], pl.FP32]]):
    data_buf = pld.alloc_window_buffer([1, 64], dtype=pl.FP32)
    signal_buf = pld.alloc_window_buffer([1, 1], dtype=pl.INT32)
    for r in pl.range(2):
        data = pld.window(data_buf, [1, 64], dtype=pl.FP32)
        signal = pld.window(signal_buf, [1, 1], dtype=pl.INT32)
        reads_at_0_on(y[r], data, signal, device=r)


@pl.jit.host
def set_over(y: pl.Out[pl.Tensor[[3, 1, 64], pl.FP32]]):
    data_buf = pld.alloc_window_buffer([1, 64], dtype=pl.FP32)
    signal_buf = pld.alloc_window_buffer([1, 1], dtype=pl.INT32)
    for r in pl.range(3):
        data = pld.window(data_buf, [1, 64], dtype=pl.FP32)
        signal = pld.window(signal_buf, [1, 1], dtype=pl.INT32)
        waits_for_1_on(y[r], data, signal, device=r)


@pl.jit.host
def grown(y: pl.Out[pl.Tensor[[2, 1, 64], pl.FP32]]):
    data_buf = pld.alloc_window_buffer([1, 64], dtype=pl.FP32)
    signal_buf = pld.alloc_window_buffer([2, 1], dtype=pl.INT32)
    for r in pl.range(2):
        data = pld.window(data_buf, [1, 64], dtype=pl.FP32)
        signal = pld.window(signal_buf, [2, 1], dtype=pl.INT32)
        waits_for_just_1_on(y[r], data, signal, device=r)


@pl.jit.host
def set_then_added(y: pl.Out[pl.Tensor[[2, 1, 64], pl.FP32]]):
    data_buf = pld.alloc_window_buffer([1, 64], dtype=pl.FP32)
    signal_buf = pld.alloc_window_buffer([1, 1], dtype=pl.INT32)
    for r in pl.range(2):
        data = pld.window(data_buf, [1, 64], dtype=pl.FP32)
        signal = pld.window(signal_buf, [1, 1], dtype=pl.INT32)
        needs_both_on(y[r], data, signal, device=r)
