# A copy between devices goes through a tile: an extent that only the run knows needs a chunk, and a chunk has to fit.
#
# test: run %s --func rows --devices 2 --arg iota:i32[1x8]
# exit: 2
# check: error[argument]: an extent of `shape` that only the run knows needs `chunk_rows=`
# test: run %s --func large --devices 2 --arg iota:i32[1x8]
# exit: 2
# check: error[too-large]: a chunk of 128 KiB, at most 96 are copied at a time
import pypto.language as pl
import pypto.language.distributed as pld


@pl.jit.incore
def push_rows(n: pl.Tensor[[1, 8], pl.INT32], own: pld.DistributedTensor[[512, 64], pl.FP32]):
    rows = pl.read(n, [0, 3])
    pld.tensor.put(own, peer=1, src=own, dst_offsets=[0, 0], src_offsets=[0, 0], shape=[rows, 64], chunk_cols=64)


@pl.jit.incore
def push_large(n: pl.Tensor[[1, 8], pl.INT32], own: pld.DistributedTensor[[512, 64], pl.FP32]):
    rows = pl.read(n, [0, 3])
    pld.tensor.put(own, peer=1, src=own, dst_offsets=[0, 0], src_offsets=[0, 0], shape=[rows, 64], chunk_rows=512)


@pl.jit.host
def rows(n: pl.Tensor[[1, 8], pl.INT32]):
    buffer = pld.alloc_window_buffer([512, 64], dtype=pl.FP32)
    own = pld.window(buffer, [512, 64], dtype=pl.FP32)
    for r in pl.range(2):
        push_rows(n, own, device=r)


@pl.jit.host
def large(n: pl.Tensor[[1, 8], pl.INT32]):
    buffer = pld.alloc_window_buffer([512, 64], dtype=pl.FP32)
    own = pld.window(buffer, [512, 64], dtype=pl.FP32)
    for r in pl.range(2):
        push_large(n, own, device=r)
