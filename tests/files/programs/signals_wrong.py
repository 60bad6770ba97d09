# What goes wrong between devices: a window that is read before anybody says that it is there, a signal that nobody sends, a
# device that there is not.
#
# platforms: a5, a2a3
# test: run %s --func raced --arg zeros:f32[2x1x64]
# exit: 1
# check: kernels clean
# check: tasks findings
# check: error[task-race]: `early` (r = 0) and `early` (r = 1) touch the same bytes of `window0`, and nothing orders them
# check: `early` (r = 0) does so before this wait
# check: reads bytes 0 to 255 of `window0`
# check: let one device tell the other
# test: run %s
# exit: 2
# check: error[several-programs]: the file has 3 programs, and no kernel that runs without them
# check: say which: `--func NAME`, one of `raced`, `stuck`, `outside`
# test: check %s
# exit: 2
# check: 1 error, 4 functions
# check: error[argument]: there is no device 2: the program runs on 2, counted from 0
# test: run %s --func stuck --arg zeros:f32[2x1x64]
# exit: 1
# check: error[deadlock]: the scalar unit of AIV0 waits for a signal in global memory forever
# check: it waits until element 0 of `window1` on device 0 is at least 2, and it is 1
# check: tasks have changed it once
# test: run %s --func outside --arg zeros:f32[2x1x64]
# exit: 2
# check: error[argument]: there is no device 2: the program runs on 2, counted from 0
import pypto.language as pl
import pypto.language.distributed as pld


@pl.jit.incore
def early(
    y: pl.Out[pl.Tensor[[1, 64], pl.FP32]],
    data: pld.DistributedTensor[[1, 64], pl.FP32],
    signal: pld.DistributedTensor[[2, 1], pl.INT32],
):
    rank = pld.rank(pld.get_comm_ctx(data))
    # The other device may look before this is there: the signal goes first.
    pld.system.notify(signal, peer=1 - rank, offsets=[rank, 0], value=1, op=pld.NotifyOp.Set)
    data = pl.store(pl.full([1, 64], pl.FP32, rank + 1.0), [0, 0], data)
    pld.system.wait(signal, offsets=[1 - rank, 0], expected=1, cmp=pld.WaitCmp.Eq)
    y = pl.store(pld.tile.remote_load(data, peer=1 - rank, offsets=[0, 0], shape=[1, 64]), [0, 0], y)
    return y


@pl.jit.incore
def twice(
    y: pl.Out[pl.Tensor[[1, 64], pl.FP32]],
    data: pld.DistributedTensor[[1, 64], pl.FP32],
    signal: pld.DistributedTensor[[2, 1], pl.INT32],
):
    rank = pld.rank(pld.get_comm_ctx(data))
    pld.system.notify(signal, peer=1 - rank, offsets=[0, 0], value=1, op=pld.NotifyOp.AtomicAdd)
    pld.system.wait(signal, offsets=[0, 0], expected=2, cmp=pld.WaitCmp.Ge)
    y = pl.store(pl.full([1, 64], pl.FP32, 1.0), [0, 0], y)
    return y


@pl.jit
def early_on(
    y: pl.Out[pl.Tensor[[1, 64], pl.FP32]],
    data: pld.DistributedTensor[[1, 64], pl.FP32],
    signal: pld.DistributedTensor[[2, 1], pl.INT32],
):
    return early(y, data, signal)


@pl.jit
def twice_on(
    y: pl.Out[pl.Tensor[[1, 64], pl.FP32]],
    data: pld.DistributedTensor[[1, 64], pl.FP32],
    signal: pld.DistributedTensor[[2, 1], pl.INT32],
):
    return twice(y, data, signal)


@pl.jit.host
def raced(y: pl.Out[pl.Tensor[[2, 1, 64], pl.FP32]]):
    data_buf = pld.alloc_window_buffer([1, 64], dtype=pl.FP32)
    signal_buf = pld.alloc_window_buffer([2, 1], dtype=pl.INT32)
    for r in pl.range(2):
        data = pld.window(data_buf, [1, 64], dtype=pl.FP32)
        signal = pld.window(signal_buf, [2, 1], dtype=pl.INT32)
        early_on(y[r], data, signal, device=r)


@pl.jit.host
def stuck(y: pl.Out[pl.Tensor[[2, 1, 64], pl.FP32]]):
    data_buf = pld.alloc_window_buffer([1, 64], dtype=pl.FP32)
    signal_buf = pld.alloc_window_buffer([2, 1], dtype=pl.INT32)
    for r in pl.range(2):
        data = pld.window(data_buf, [1, 64], dtype=pl.FP32)
        signal = pld.window(signal_buf, [2, 1], dtype=pl.INT32)
        twice_on(y[r], data, signal, device=r)


@pl.jit.host
def outside(y: pl.Out[pl.Tensor[[2, 1, 64], pl.FP32]]):
    data_buf = pld.alloc_window_buffer([1, 64], dtype=pl.FP32)
    signal_buf = pld.alloc_window_buffer([2, 1], dtype=pl.INT32)
    for r in pl.range(2):
        data = pld.window(data_buf, [1, 64], dtype=pl.FP32)
        signal = pld.window(signal_buf, [2, 1], dtype=pl.INT32)
        early_on(y[r], data, signal, device=r + 1)
