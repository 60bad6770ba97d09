# Memory of devices may hold booleans, a byte for each element; other devices read them.
#
# platforms: a5, a2a3
# test: run %s --func shown --devices 2 --arg iota:f32[2x1x32] --arg zeros:f32[2x1x32]
# out[1]: f32 32*1 21*0 11*1
import pypto.language as pl
import pypto.language.distributed as pld

NR = pl.dynamic("NR")
ROW = pl.Tensor[[1, 32], pl.FP32]
MARKS = pld.DistributedTensor[[1, 32], pl.BOOL]
SIGNAL = pld.DistributedTensor[[1, 1], pl.INT32]


@pl.jit.incore
def marked(x: ROW, marks: MARKS):
    marks = pl.store(pl.load(x, [0, 0], [1, 32]) > 20.0, [0, 0], marks)
    return marks


@pl.jit.incore
def exchanged(marks: MARKS, signal: SIGNAL, y: pl.Out[ROW]):
    peer = 1 - pld.rank(pld.get_comm_ctx(marks))
    pld.system.notify(signal, peer=peer, offsets=[0, 0], value=1, op=pld.NotifyOp.AtomicAdd)
    pld.system.wait(signal, offsets=[0, 0], expected=1, cmp=pld.WaitCmp.Ge)
    theirs = pld.tile.remote_load(marks, peer=peer, offsets=[0, 0], shape=[1, 32])
    y = pl.store(pl.cast(theirs, pl.FP32), [0, 0], y)
    return y


@pl.jit
def marked_on(x: ROW, marks: MARKS, signal: SIGNAL, y: pl.Out[ROW]):
    marks = marked(x, marks)
    return exchanged(marks, signal, y)


@pl.jit.host
def shown(x: pl.Tensor[[NR, 1, 32], pl.FP32], y: pl.Out[pl.Tensor[[NR, 1, 32], pl.FP32]]):
    one = pld.alloc_window_buffer(32)
    two = pld.alloc_window_buffer(4)
    for r in pl.range(0, pld.world_size()):
        marks = pld.window(one, [1, 32], dtype=pl.BOOL)
        marked_on(x[r], marks, pld.window(two, [1, 1], dtype=pl.INT32), y[r], device=r)
    return y
