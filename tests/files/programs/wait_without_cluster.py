# A task that waits for a signal keeps its cluster: on one cluster it may keep the task that signals from starting, which
# the order of this run does not show.
#
# platforms: a5, a2a3
# test: run %s --func f --devices 1 --clusters 2 --arg zeros:f32[1x1x64] --arg zeros:f32[1x1x64]
# check: tasks clean
# check: all orders of the tasks on 1 device
# test: run %s --func f --devices 1 --clusters 1 --arg zeros:f32[1x1x64] --arg zeros:f32[1x1x64]
# check: tasks clean
# check: this order only (in another order `gives` (r = 0) may find no free cluster)
# test: run %s --func f --devices 1 --clusters 1 --order 6 --arg zeros:f32[1x1x64] --arg zeros:f32[1x1x64]
# exit: 1
# check: error[deadlock]
import pypto.language as pl
import pypto.language.distributed as pld


@pl.jit.incore
def gives(
    y: pl.Out[pl.Tensor[[1, 64], pl.FP32]],
    signal: pld.DistributedTensor[[1, 1], pl.INT32],
):
    y = pl.store(pl.full([1, 64], pl.FP32, 1.0), [0, 0], y)
    pld.system.notify(signal, peer=0, offsets=[0, 0], value=1, op=pld.NotifyOp.AtomicAdd)
    return y


@pl.jit.incore
def waits(
    y: pl.Out[pl.Tensor[[1, 64], pl.FP32]],
    signal: pld.DistributedTensor[[1, 1], pl.INT32],
):
    pld.system.wait(signal, offsets=[0, 0], expected=1, cmp=pld.WaitCmp.Ge)
    y = pl.store(pl.full([1, 64], pl.FP32, 1.0), [0, 0], y)
    return y


@pl.jit
def on(
    y: pl.Out[pl.Tensor[[1, 64], pl.FP32]],
    z: pl.Out[pl.Tensor[[1, 64], pl.FP32]],
    signal: pld.DistributedTensor[[1, 1], pl.INT32],
):
    y = gives(y, signal)
    z = waits(z, pl.no_dep(signal))
    return y, z


@pl.jit.host
def f(y: pl.Out[pl.Tensor[[1, 1, 64], pl.FP32]], z: pl.Out[pl.Tensor[[1, 1, 64], pl.FP32]]):
    signal_buf = pld.alloc_window_buffer([1, 1], dtype=pl.INT32)
    for r in pl.range(1):
        signal = pld.window(signal_buf, [1, 1], dtype=pl.INT32)
        on(y[r], z[r], signal, device=r)
