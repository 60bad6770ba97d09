# Waits that the scheduler takes over: many tasks wait for a signal, and their core is free for the task that sends it.
#
# platforms: a5, a2a3
# test: run %s --func exchange --devices 2 --clusters 1 --verify --arg zeros:i32[2x4x8]
# exit: 0
# check: kernels clean
# check: tasks clean
# check: verify clean
# out[0]: i32 32*2 32*1
# test: run %s --func exchange --devices 2 --clusters 1 --order 5 --verify --arg zeros:i32[2x4x8]
# exit: 0
# check: tasks clean
# out[0]: i32 32*2 32*1
# test: run %s --func blocks --devices 2 --clusters 2 --verify --arg zeros:i32[2x1x8]
# exit: 0
# check: tasks clean
# check: verify clean
# out[0]: i32 8*2 8*1
# test: run %s --func never --arg zeros:i32[2x1x8]
# exit: 1
# check: error[deadlock]: the scalar unit of AIV0 waits for a signal in global memory forever
# check: it waits until element 0 of `window1` on device 0 is at least 2, and it is 1
# test: run %s --func unordered --devices 2 --arg zeros:i32[2x1x8]
# exit: 1 with task-race 2
# check: tasks findings
# check: error[task-race]
import pypto.language as pl
import pypto.language.distributed as pld

WAITS = 4


@pl.jit
def exchange_on(
    y: pl.Out[pl.Tensor[[WAITS, 8], pl.INT32]],
    data: pld.DistributedTensor[[1, 8], pl.INT32],
    signal: pld.DistributedTensor[[1, 1], pl.INT32],
    peer: pl.Scalar[pl.INT32],
):
    with pl.manual_scope():
        for slot in pl.range(WAITS):
            with pl.at(level=pl.Level.CORE_GROUP) as wait:
                pld.system.defer_wait(signal, offsets=[0, 0], expected=1, cmp=pld.WaitCmp.Ge)
            with pl.at(level=pl.Level.CORE_GROUP, deps=[wait]):
                y = pl.store(pl.load(data, [0, 0], [1, 8]), [slot, 0], y)
        with pl.at(level=pl.Level.CORE_GROUP):
            own = pl.full([1, 8], pl.INT32, 2 - peer)
            pld.tile.remote_store(own, data, peer=peer, offsets=[0, 0])
            pld.system.notify(signal, peer=peer, offsets=[0, 0], value=1, op=pld.NotifyOp.Set)
    return y


@pl.jit.host
def exchange(y: pl.Out[pl.Tensor[[2, WAITS, 8], pl.INT32]]):
    data_buf = pld.alloc_window_buffer([1, 8], dtype=pl.INT32)
    signal_buf = pld.alloc_window_buffer([1, 1], dtype=pl.INT32)
    for r in pl.range(2):
        data = pld.window(data_buf, [1, 8], dtype=pl.INT32)
        signal = pld.window(signal_buf, [1, 1], dtype=pl.INT32)
        exchange_on(y[r], data, signal, 1 - r, device=r)


@pl.jit
def never_on(
    y: pl.Out[pl.Tensor[[1, 8], pl.INT32]],
    data: pld.DistributedTensor[[1, 8], pl.INT32],
    signal: pld.DistributedTensor[[1, 1], pl.INT32],
    peer: pl.Scalar[pl.INT32],
):
    with pl.manual_scope():
        with pl.at(level=pl.Level.CORE_GROUP) as wait:
            pld.system.defer_wait(signal, offsets=[0, 0], expected=2, cmp=pld.WaitCmp.Ge)
        with pl.at(level=pl.Level.CORE_GROUP, deps=[wait]):
            y = pl.store(pl.load(data, [0, 0], [1, 8]), [0, 0], y)
        with pl.at(level=pl.Level.CORE_GROUP):
            pld.system.notify(signal, peer=peer, offsets=[0, 0], value=1, op=pld.NotifyOp.Set)
    return y


@pl.jit.host
def never(y: pl.Out[pl.Tensor[[2, 1, 8], pl.INT32]]):
    data_buf = pld.alloc_window_buffer([1, 8], dtype=pl.INT32)
    signal_buf = pld.alloc_window_buffer([1, 1], dtype=pl.INT32)
    for r in pl.range(2):
        data = pld.window(data_buf, [1, 8], dtype=pl.INT32)
        signal = pld.window(signal_buf, [1, 1], dtype=pl.INT32)
        never_on(y[r], data, signal, 1 - r, device=r)


@pl.jit
def unordered_on(
    y: pl.Out[pl.Tensor[[1, 8], pl.INT32]],
    data: pld.DistributedTensor[[1, 8], pl.INT32],
    signal: pld.DistributedTensor[[1, 1], pl.INT32],
    peer: pl.Scalar[pl.INT32],
):
    with pl.manual_scope():
        with pl.at(level=pl.Level.CORE_GROUP):
            pld.system.defer_wait(signal, offsets=[0, 0], expected=1, cmp=pld.WaitCmp.Ge)
        # It does not say that it comes after the wait.
        with pl.at(level=pl.Level.CORE_GROUP):
            y = pl.store(pl.load(data, [0, 0], [1, 8]), [0, 0], y)
        with pl.at(level=pl.Level.CORE_GROUP):
            pld.tile.remote_store(pl.full([1, 8], pl.INT32, 2 - peer), data, peer=peer, offsets=[0, 0])
            pld.system.notify(signal, peer=peer, offsets=[0, 0], value=1, op=pld.NotifyOp.Set)
    return y


@pl.jit.host
def unordered(y: pl.Out[pl.Tensor[[2, 1, 8], pl.INT32]]):
    data_buf = pld.alloc_window_buffer([1, 8], dtype=pl.INT32)
    signal_buf = pld.alloc_window_buffer([1, 1], dtype=pl.INT32)
    for r in pl.range(2):
        data = pld.window(data_buf, [1, 8], dtype=pl.INT32)
        signal = pld.window(signal_buf, [1, 1], dtype=pl.INT32)
        unordered_on(y[r], data, signal, 1 - r, device=r)


@pl.jit
def blocks_on(
    y: pl.Out[pl.Tensor[[1, 8], pl.INT32]],
    data: pld.DistributedTensor[[1, 8], pl.INT32],
    signal: pld.DistributedTensor[[1, 1], pl.INT32],
    peer: pl.Scalar[pl.INT32],
):
    with pl.manual_scope():
        with pl.spmd(2) as wait:
            pld.system.defer_wait(signal, offsets=[0, 0], expected=1, cmp=pld.WaitCmp.Ge)
        with pl.at(level=pl.Level.CORE_GROUP, deps=[wait]):
            y = pl.store(pl.load(data, [0, 0], [1, 8]), [0, 0], y)
        with pl.at(level=pl.Level.CORE_GROUP):
            pld.tile.remote_store(pl.full([1, 8], pl.INT32, 2 - peer), data, peer=peer, offsets=[0, 0])
            pld.system.notify(signal, peer=peer, offsets=[0, 0], value=1, op=pld.NotifyOp.Set)
    return y


@pl.jit.host
def blocks(y: pl.Out[pl.Tensor[[2, 1, 8], pl.INT32]]):
    data_buf = pld.alloc_window_buffer([1, 8], dtype=pl.INT32)
    signal_buf = pld.alloc_window_buffer([1, 1], dtype=pl.INT32)
    for r in pl.range(2):
        data = pld.window(data_buf, [1, 8], dtype=pl.INT32)
        signal = pld.window(signal_buf, [1, 1], dtype=pl.INT32)
        blocks_on(y[r], data, signal, 1 - r, device=r)
