# Collectives that the host starts: a task on each device. Signals are used again, or are the collective's own; a ring rounds its sums
# in another order than a mesh.
#
# platforms: a5, a2a3
# test: run %s --func reduced --devices 3 --verify --arg zeros:f32[3x5x64]
# check: tasks clean
# check: verify clean
# out[0]: f32 64*24 64*2 64*4 64*0 21*0 21*1 22*0 64*24 64*2 64*4 64*0 21*0 21*1 22*0 64*24 64*2 64*4 64*1 21*0 21*1 22*0
# test: run %s --func exchanged --devices 3 --verify --arg zeros:f32[3x6x64] --arg zeros:i32[3x3x1]
# check: tasks clean
# check: verify clean
# out[0]: f32 128*0 64*10 64*0 64*20 64*21 64*2 64*0 64*12 64*13 128*0 64*4 64*5 128*0 64*24 64*0
# out[1]: i32 0 1 2 1 2 0 2 0 1
# test: run %s --func moved --devices 2 --verify --arg zeros:f32[2x2x80x64]
# check: tasks clean
# check: verify clean
# out[0]: f32 5120*8 5120*8 5120*7 5120*7
import pypto.language as pl
import pypto.language.distributed as pld

N = 3


@pl.jit.incore
def publish(data: pl.InOut[pld.DistributedTensor[[1, 64], pl.FP32]], rank: pl.Scalar[pl.INT32]):
    return pl.store(pl.full([1, 64], pl.FP32, pl.cast(rank, pl.FP32) + 2.0), [0, 0], data)


@pl.jit.incore
def publish_large(data: pl.InOut[pld.DistributedTensor[[1, 64], pl.FP32]], rank: pl.Scalar[pl.INT32]):
    # 1e8, 1, -1e8: which of the sums keeps the 1 depends on the order.
    number = 1e8 if rank == 0 else (1.0 if rank == 1 else -1e8)
    return pl.store(pl.full([1, 64], pl.FP32, number), [0, 0], data)


@pl.jit.incore
def take(data: pld.DistributedTensor[[1, 64], pl.FP32], y: pl.Out[pl.Tensor[[1, 64], pl.FP32]]):
    return pl.store(pl.load(data, [0, 0], [1, 64]), [0, 0], y)


@pl.jit.host
def reduced(y: pl.Out[pl.Tensor[[N, 5, 64], pl.FP32]]):
    buffer = pld.alloc_window_buffer([1, 64], dtype=pl.FP32)
    signals = pld.alloc_window_buffer(N * pl.INT32.get_byte())
    around = pld.alloc_window_buffer([2 * (N - 1) + 1, N], dtype=pl.INT32)
    data = pld.window(buffer, [1, 64], dtype=pl.FP32)
    signal = pld.window(signals, [pld.world_size()], dtype=pl.INT32)
    ring = pld.window(around, [2 * (N - 1) + 1, N], dtype=pl.INT32)
    for r in pl.range(N):
        publish(data, r, device=r)
    data = pld.tensor.allreduce(data, signal, op=pld.ReduceOp.Prod)
    for r in pl.range(N):
        take(data, y[r, 0:1, :], device=r)
    for r in pl.range(N):
        publish(data, r, device=r)
    data = pld.tensor.allreduce(data, signal, op=pld.ReduceOp.Min)
    for r in pl.range(N):
        take(data, y[r, 1:2, :], device=r)
    for r in pl.range(N):
        publish(data, r, device=r)
    data = pld.tensor.allreduce(data, op=pld.ReduceOp.Max, core_num=2)
    for r in pl.range(N):
        take(data, y[r, 2:3, :], device=r)
    for r in pl.range(N):
        publish_large(data, r, device=r)
    data = pld.tensor.allreduce(data, signal)
    for r in pl.range(N):
        take(data, y[r, 3:4, :], device=r)
    for r in pl.range(N):
        publish_large(data, r, device=r)
    data = pld.tensor.allreduce(data, ring, mode="ring")
    for r in pl.range(N):
        take(data, y[r, 4:5, :], device=r)
    return y


@pl.jit.incore
def prepare(
    rows: pl.InOut[pld.DistributedTensor[[N * 2, 64], pl.FP32]],
    counts: pl.InOut[pld.DistributedTensor[[N, 1], pl.INT32]],
    rank: pl.Scalar[pl.INT32],
):
    for row in pl.range(N * 2):
        rows = pl.store(pl.full([1, 64], pl.FP32, pl.cast(rank * 10 + row, pl.FP32)), [row, 0], rows)
    for peer in pl.range(N):
        pl.write(counts, [peer, 0], pl.cast((rank + peer) % 3, pl.INT32))
    return rows, counts


@pl.jit.incore
def received(
    into: pld.DistributedTensor[[N * 2, 64], pl.FP32],
    got: pld.DistributedTensor[[N, 1], pl.INT32],
    y: pl.Out[pl.Tensor[[6, 64], pl.FP32]],
    n: pl.Out[pl.Tensor[[3, 1], pl.INT32]],
):
    for at in pl.range(N):
        count = pl.read(got, [at, 0])
        pl.write(n, [at, 0], count)
        for row in pl.range(2):
            # Rows after the count are uninitialised.
            if row < count:
                y = pl.store(pl.load(into, [at * 2 + row, 0], [1, 64]), [at * 2 + row, 0], y)
            else:
                y = pl.store(pl.full([1, 64], pl.FP32, 0.0), [at * 2 + row, 0], y)
    return y, n


@pl.jit.host
def exchanged(y: pl.Out[pl.Tensor[[N, 6, 64], pl.FP32]], n: pl.Out[pl.Tensor[[N, 3, 1], pl.INT32]]):
    rows_buf = pld.alloc_window_buffer([N * 2, 64], dtype=pl.FP32)
    into_buf = pld.alloc_window_buffer([N * 2, 64], dtype=pl.FP32)
    counts_buf = pld.alloc_window_buffer([N, 1], dtype=pl.INT32)
    got_buf = pld.alloc_window_buffer([N, 1], dtype=pl.INT32)
    signal_buf = pld.alloc_window_buffer([N, 1], dtype=pl.INT32)
    rows = pld.window(rows_buf, [N * 2, 64], dtype=pl.FP32)
    into = pld.window(into_buf, [N * 2, 64], dtype=pl.FP32)
    counts = pld.window(counts_buf, [N, 1], dtype=pl.INT32)
    got = pld.window(got_buf, [N, 1], dtype=pl.INT32)
    signal = pld.window(signal_buf, [N, 1], dtype=pl.INT32)
    for r in pl.range(N):
        prepare(rows, counts, r, device=r)
    into = pld.tensor.all_to_all_v(rows, into, signal, counts, got)
    for r in pl.range(N):
        received(into, got, y[r], n[r], device=r)
    return y, n


@pl.jit.incore
def swap(
    y: pl.Out[pl.Tensor[[2, 80, 64], pl.FP32]],
    own: pld.DistributedTensor[[80, 64], pl.FP32],
    put: pld.DistributedTensor[[80, 64], pl.FP32],
    got: pld.DistributedTensor[[80, 64], pl.FP32],
    signal: pld.DistributedTensor[[2, 1], pl.INT32],
):
    # 20 KiB, more than a piece.
    rank = pld.rank(pld.get_comm_ctx(own))
    own = pl.store(pl.full([80, 64], pl.FP32, rank + 7.0), [0, 0], own)
    pld.tensor.put(put, peer=1 - rank, src=own)
    signal = pld.tensor.barrier(signal)
    pld.tensor.get(got, peer=1 - rank, src=own)
    signal = pld.tensor.barrier(signal)
    y = pl.store(pl.load(put, [0, 0], [80, 64]), [0, 0, 0], y)
    return pl.store(pl.load(got, [0, 0], [80, 64]), [1, 0, 0], y)


@pl.jit.host
def moved(y: pl.Out[pl.Tensor[[2, 2, 80, 64], pl.FP32]]):
    own_buf = pld.alloc_window_buffer([80, 64], dtype=pl.FP32)
    put_buf = pld.alloc_window_buffer([80, 64], dtype=pl.FP32)
    got_buf = pld.alloc_window_buffer([80, 64], dtype=pl.FP32)
    signal_buf = pld.alloc_window_buffer([2, 1], dtype=pl.INT32)
    own = pld.window(own_buf, [80, 64], dtype=pl.FP32)
    put = pld.window(put_buf, [80, 64], dtype=pl.FP32)
    got = pld.window(got_buf, [80, 64], dtype=pl.FP32)
    signal = pld.window(signal_buf, [2, 1], dtype=pl.INT32)
    for r in pl.range(2):
        swap(y[r], own, put, got, signal, device=r)
    return y
