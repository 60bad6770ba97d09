# Copies between devices of which only the run knows the rows: chunk by chunk, the last one as long as what is left.
#
# platforms: a5, a2a3
# test: run %s --devices 2 --verify --arg iota:i32[2x1x8] --arg zeros:f32[2x2x6x64]
# check: tasks clean
# check: verify clean
# out[1]: f32 64*0 344*8 40*7 24*8 40*7 24*8 40*7 24*8 40*7 24*8 40*7 24*8 40*7 64*0 192*7 128*0 40*7 24*8 40*7 24*8 40*7 24*8 40*7 24*8 40*7 24*8 40*7 24*8
import pypto.language as pl
import pypto.language.distributed as pld


@pl.jit.incore
def push(
    n: pl.Tensor[[1, 8], pl.INT32],
    y: pl.Out[pl.Tensor[[2, 6, 64], pl.FP32]],
    own: pld.DistributedTensor[[6, 64], pl.FP32],
    put: pld.DistributedTensor[[6, 64], pl.FP32],
    got: pld.DistributedTensor[[6, 64], pl.FP32],
    signal: pld.DistributedTensor[[2, 1], pl.INT32],
):
    rank = pld.rank(pld.get_comm_ctx(own))
    # 3 on the first device, 5 on the second.
    rows = pl.read(n, [0, 3]) % 6
    own = pl.store(pl.full([6, 64], pl.FP32, rank + 7.0), [0, 0], own)
    pld.tensor.put(
        put, peer=1 - rank, src=own, dst_offsets=[1, 0], src_offsets=[0, 0], shape=[rows, 64], chunk_rows=2, chunk_cols=64
    )
    got = pl.store(pl.full([6, 64], pl.FP32, rank + 7.0), [0, 0], got)
    signal = pld.tensor.barrier(signal)
    # 24 on the first device, 40 on the second.
    cols = rows * 8
    pld.tensor.get(
        got, peer=1 - rank, src=own, dst_offsets=[0, 0], src_offsets=[0, 0], shape=[6, cols], chunk_rows=6, chunk_cols=32
    )
    y = pl.store(pl.load(put, [0, 0], [6, 64]), [0, 0, 0], y)
    return pl.store(pl.load(got, [0, 0], [6, 64]), [1, 0, 0], y)


@pl.jit.host
def main(n: pl.Tensor[[2, 1, 8], pl.INT32], y: pl.Out[pl.Tensor[[2, 2, 6, 64], pl.FP32]]):
    own_buf = pld.alloc_window_buffer([6, 64], dtype=pl.FP32)
    put_buf = pld.alloc_window_buffer([6, 64], dtype=pl.FP32)
    got_buf = pld.alloc_window_buffer([6, 64], dtype=pl.FP32)
    signal_buf = pld.alloc_window_buffer([2, 1], dtype=pl.INT32)
    own = pld.window(own_buf, [6, 64], dtype=pl.FP32)
    put = pld.window(put_buf, [6, 64], dtype=pl.FP32)
    got = pld.window(got_buf, [6, 64], dtype=pl.FP32)
    signal = pld.window(signal_buf, [2, 1], dtype=pl.INT32)
    for r in pl.range(2):
        push(n[r], y[r], own, put, got, signal, device=r)
    return y
