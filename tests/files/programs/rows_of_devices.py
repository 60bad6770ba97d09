# A part of a device's memory is inside the rows of its window: after them comes the memory of the next device.
#
# platforms: a5, a2a3
# test: run %s --func own --devices 2 --arg 0:index --arg zeros:f32[2x2x16]
# out[1]: f32 64*3
# test: run %s --func own --devices 2 --arg 3:index --arg zeros:f32[2x2x16]
# exit: 1 with memory-bounds
# check: it reads elements 3 to 4 of dimension 0, which has only 4
# test: run %s --func other --devices 2 --arg 2:index --arg zeros:f32[2x2x16]
# out[1]: f32 64*3
# test: run %s --func other --devices 2 --arg 3:index --arg zeros:f32[2x2x16]
# exit: 1 with memory-bounds
# check: it reads elements 3 to 4 of dimension 0, which has only 4
import pypto.language as pl
import pypto.language.distributed as pld

NR = pl.dynamic("NR")
DATA = pld.DistributedTensor[[4, 16], pl.FP32]
Y = pl.Out[pl.Tensor[[2, 16], pl.FP32]]


@pl.jit.incore
def filled(data: DATA):
    data = pl.store(pl.full([4, 16], pl.FP32, 3.0), [0, 0], data)
    return data


@pl.jit.incore
def of_this(data: DATA, i: pl.Scalar[pl.INDEX], y: Y):
    y = pl.store(pl.load(data, [i, 0], [2, 16]), [0, 0], y)
    return y


@pl.jit.incore
def of_another(data: DATA, signal: pld.DistributedTensor[[1, 1], pl.INT32], i: pl.Scalar[pl.INDEX], y: Y):
    peer = 1 - pld.rank(pld.get_comm_ctx(data))
    pld.system.notify(signal, peer=peer, offsets=[0, 0], value=1, op=pld.NotifyOp.AtomicAdd)
    pld.system.wait(signal, offsets=[0, 0], expected=1, cmp=pld.WaitCmp.Ge)
    y = pl.store(pld.tile.remote_load(data, peer=peer, offsets=[i, 0], shape=[2, 16]), [0, 0], y)
    return y


@pl.jit
def own_on(data: DATA, i: pl.Scalar[pl.INDEX], y: Y):
    data = filled(data)
    return of_this(data, i, y)


@pl.jit
def other_on(data: DATA, signal: pld.DistributedTensor[[1, 1], pl.INT32], i: pl.Scalar[pl.INDEX], y: Y):
    data = filled(data)
    return of_another(data, signal, i, y)


@pl.jit.host
def own(i: pl.Scalar[pl.INDEX], y: pl.Out[pl.Tensor[[NR, 2, 16], pl.FP32]]):
    memory = pld.alloc_window_buffer(256)
    for r in pl.range(0, pld.world_size()):
        own_on(pld.window(memory, [4, 16], dtype=pl.FP32), i, y[r], device=r)
    return y


@pl.jit.host
def other(i: pl.Scalar[pl.INDEX], y: pl.Out[pl.Tensor[[NR, 2, 16], pl.FP32]]):
    memory = pld.alloc_window_buffer(256)
    told = pld.alloc_window_buffer(4)
    for r in pl.range(0, pld.world_size()):
        signal = pld.window(told, [1, 1], dtype=pl.INT32)
        other_on(pld.window(memory, [4, 16], dtype=pl.FP32), signal, i, y[r], device=r)
    return y
