# Devices that wait for each other: signals, parts of each other's windows, and what is made of them.
#
# platforms: a5, a2a3
# test: run %s --func shifted --devices 3 --verify --arg zeros:f32[3x2x64] --arg zeros:i32[3x3x1]
# exit: 0
# check-not: needless
# check: kernels clean
# check: tasks clean
# check: all orders of the tasks on 3 devices
# check: verify clean
# out[0]: f32 64*100 64*2 64*200 64*0 64*0 64*1
# out[1]: i32 0 1 1 1 0 1 1 1 0
# test: run %s --func collected --devices 3 --verify --arg zeros:f32[3x11x64]
# exit: 0
# check: tasks clean
# check: verify clean
# out[0]: f32 64*6 64*3 64*2 64*1 64*2 64*3 64*6 64*10 64*20 64*30 64*6 64*6 64*3 64*2 64*1 64*2 64*3 64*12 64*11 64*21 64*31 64*6 64*6 64*3 64*2 64*1 64*2 64*3 64*18 64*12 64*22 64*32 64*6
# test: run %s --func collected --devices 3 --clusters 1 --order 3 --arg zeros:f32[3x11x64]
# exit: 0
# check: tasks clean
import pypto.language as pl
import pypto.language.distributed as pld

NR = pl.dynamic("NR")
N = 3


@pl.jit.incore
def shift(
    y: pl.Out[pl.Tensor[[2, 64], pl.FP32]],
    cells: pl.Out[pl.Tensor[[NR, 1], pl.INT32]],
    data: pld.DistributedTensor[[1, 64], pl.FP32],
    sent: pld.DistributedTensor[[1, 64], pl.FP32],
    signal: pld.DistributedTensor[[NR, 1], pl.INT32],
):
    ctx = pld.get_comm_ctx(data)
    rank = pld.rank(ctx)
    nranks = pld.nranks(ctx)
    # What the device before reads, and what this one stores on the next.
    data = pl.store(pl.full([1, 64], pl.FP32, rank * 100.0), [0, 0], data)
    pld.tile.remote_store(pl.full([1, 64], pl.FP32, rank * 1.0), sent, peer=(rank + 1) % nranks, offsets=[0, 0])
    for peer in pl.range(nranks):
        if peer != rank:
            pld.system.notify(signal, peer=peer, offsets=[rank, 0], value=1, op=pld.NotifyOp.AtomicAdd)
    for src in pl.range(nranks):
        if src != rank:
            pld.system.wait(signal, offsets=[src, 0], expected=1, cmp=pld.WaitCmp.Ge)
    there = pld.tile.remote_load(data, peer=(rank + 1) % nranks, offsets=[0, 0], shape=[1, 64])
    y = pl.store(there, [0, 0], y)
    y = pl.store(pl.load(sent, [0, 0], [1, 64]), [1, 0], y)
    for at in pl.range(nranks):
        pl.write(cells, [at, 0], pl.read(signal, [at, 0]))
    return y, cells


@pl.jit
def shift_on(
    y: pl.Out[pl.Tensor[[2, 64], pl.FP32]],
    cells: pl.Out[pl.Tensor[[NR, 1], pl.INT32]],
    data: pld.DistributedTensor[[1, 64], pl.FP32],
    sent: pld.DistributedTensor[[1, 64], pl.FP32],
    signal: pld.DistributedTensor[[NR, 1], pl.INT32],
):
    return shift(y, cells, data, sent, signal)


@pl.jit.host
def shifted(y: pl.Out[pl.Tensor[[NR, 2, 64], pl.FP32]], cells: pl.Out[pl.Tensor[[NR, NR, 1], pl.INT32]]):
    data_buf = pld.alloc_window_buffer([1, 64], dtype=pl.FP32)
    sent_buf = pld.alloc_window_buffer(64 * pl.FP32.get_byte())
    signal_buf = pld.alloc_window_buffer(pld.world_size() * pl.INT32.get_byte())
    for r in pl.range(pld.world_size()):
        data = pld.window(data_buf, [1, 64], dtype=pl.FP32)
        sent = pld.window(sent_buf, [1, 64], dtype=pl.FP32)
        signal = pld.window(signal_buf, [pld.world_size(), 1], dtype=pl.INT32)
        shift_on(y[r], cells[r], data, sent, signal, device=r)


@pl.jit.incore
def collect(
    y: pl.Out[pl.Tensor[[11, 64], pl.FP32]],
    one: pld.DistributedTensor[[1, 64], pl.FP32],
    each: pld.DistributedTensor[[N, 64], pl.FP32],
    into: pld.DistributedTensor[[N, 64], pl.FP32],
    signal: pld.DistributedTensor[[N, 1], pl.INT32],
):
    rank = pld.rank(pld.get_comm_ctx(one))
    own = pl.full([1, 64], pl.FP32, rank + 1.0)
    one = pl.store(own, [0, 0], one)
    one = pld.tensor.allreduce(one, signal, op=pld.ReduceOp.Sum)
    y = pl.store(pl.load(one, [0, 0], [1, 64]), [0, 0], y)
    one = pl.store(own, [0, 0], one)
    one = pld.tensor.allreduce(one, signal, op=pld.ReduceOp.Max, mode="mesh")
    y = pl.store(pl.load(one, [0, 0], [1, 64]), [1, 0], y)
    signal = pld.tensor.barrier(signal)
    one = pl.store(own, [0, 0], one)
    one = pld.tensor.broadcast(one, signal, root=1)
    y = pl.store(pl.load(one, [0, 0], [1, 64]), [2, 0], y)
    one = pl.store(own, [0, 0], one)
    each = pld.tensor.allgather(one, each, signal)
    y = pl.store(pl.load(each, [0, 0], [N, 64]), [3, 0], y)
    signal = pld.tensor.barrier(signal)
    for d in pl.range(N):
        each = pl.store(pl.mul(own, pl.cast(d + 1, pl.FP32)), [d, 0], each)
    each = pld.tensor.reduce_scatter(each, signal, op=pld.ReduceOp.Sum)
    y = pl.store(pl.load(each, [rank, 0], [1, 64]), [6, 0], y)
    for d in pl.range(N):
        each = pl.store(pl.add(pl.mul(own, 10.0), pl.cast(d, pl.FP32)), [d, 0], each)
    into = pld.tensor.all_to_all(each, into, signal)
    y = pl.store(pl.load(into, [0, 0], [N, 64]), [7, 0], y)
    # A sum in the windows of all devices, which all of them add to.
    one = pl.store(pl.full([1, 64], pl.FP32, 0.0), [0, 0], one)
    signal = pld.tensor.barrier(signal)
    for peer in pl.range(N):
        pld.tile.remote_store(own, one, peer=peer, offsets=[0, 0], atomic=pld.AtomicType.Add)
    signal = pld.tensor.barrier(signal)
    y = pl.store(pl.load(one, [0, 0], [1, 64]), [10, 0], y)
    return y


@pl.jit
def collect_on(
    y: pl.Out[pl.Tensor[[11, 64], pl.FP32]],
    one: pld.DistributedTensor[[1, 64], pl.FP32],
    each: pld.DistributedTensor[[N, 64], pl.FP32],
    into: pld.DistributedTensor[[N, 64], pl.FP32],
    signal: pld.DistributedTensor[[N, 1], pl.INT32],
):
    return collect(y, one, each, into, signal)


@pl.jit.host
def collected(y: pl.Out[pl.Tensor[[N, 11, 64], pl.FP32]]):
    one_buf = pld.alloc_window_buffer([1, 64], dtype=pl.FP32)
    each_buf = pld.alloc_window_buffer([N, 64], dtype=pl.FP32)
    into_buf = pld.alloc_window_buffer([N, 64], dtype=pl.FP32)
    signal_buf = pld.alloc_window_buffer([N, 1], dtype=pl.INT32)
    for r in pl.range(pld.world_size()):
        one = pld.window(one_buf, [1, 64], dtype=pl.FP32)
        each = pld.window(each_buf, [N, 64], dtype=pl.FP32)
        into = pld.window(into_buf, [N, 64], dtype=pl.FP32)
        signal = pld.window(signal_buf, [N, 1], dtype=pl.INT32)
        collect_on(y[r], one, each, into, signal, device=r)
