# A copy between devices goes through a tile: an extent that only the run knows needs a chunk, and a chunk has to fit.
#
# test: run %s --func rows --devices 2 --arg iota:i32[1x8]
# exit: 2
# check: error[argument]: an extent of `shape` that only the run knows needs `chunk_rows=`
# test: run %s --func large --devices 2 --arg iota:i32[1x8]
# exit: 2
# check: error[too-large]: a chunk of 128 KiB, at most 96 are copied at a time
# test: run %s --func negative --devices 2 --arg iota:i32[1x8]
# exit: 2
# check: error[argument]: `chunk_rows=-4` is negative
# check: help: 0 means no limit
# test: run %s --func negative_counted --devices 2 --arg iota:i32[1x8]
# exit: 2
# check: error[argument]: `chunk_cols=-1` is negative
# test: run %s --func one_row --devices 2 --arg iota:i32[1x8]
# exit: 2
# check: error[argument]: `chunk_rows=4`: a one-dimensional copy has a single row
# check: set the chunk length with `chunk_cols=`
# test: run %s --func one_row_counted --devices 2 --arg iota:i32[1x8]
# exit: 2
# check: error[argument]: `chunk_rows=2`: a one-dimensional copy has a single row
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


@pl.jit.incore
def push_negative(own: pld.DistributedTensor[[512, 64], pl.FP32]):
    pld.tensor.put(own, peer=1, src=own, chunk_rows=-4)


@pl.jit.incore
def push_negative_counted(n: pl.Tensor[[1, 8], pl.INT32], own: pld.DistributedTensor[[512, 64], pl.FP32]):
    rows = pl.read(n, [0, 3])
    shape = [rows, 64]
    pld.tensor.put(own, peer=1, src=own, dst_offsets=[0, 0], src_offsets=[0, 0], shape=shape, chunk_rows=8, chunk_cols=-1)


@pl.jit.incore
def push_one_row(own: pld.DistributedTensor[[512], pl.FP32]):
    # One row is what there is.
    pld.tensor.put(own, peer=1, src=own, chunk_rows=1, chunk_cols=64)
    pld.tensor.put(own, peer=1, src=own, chunk_rows=4, chunk_cols=64)


@pl.jit.incore
def push_one_row_counted(n: pl.Tensor[[1, 8], pl.INT32], own: pld.DistributedTensor[[512], pl.FP32]):
    cols = pl.read(n, [0, 3])
    pld.tensor.put(own, peer=1, src=own, dst_offsets=[0], src_offsets=[0], shape=[cols], chunk_rows=2, chunk_cols=64)


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


@pl.jit.host
def negative(n: pl.Tensor[[1, 8], pl.INT32]):
    buffer = pld.alloc_window_buffer([512, 64], dtype=pl.FP32)
    own = pld.window(buffer, [512, 64], dtype=pl.FP32)
    for r in pl.range(2):
        push_negative(own, device=r)


@pl.jit.host
def negative_counted(n: pl.Tensor[[1, 8], pl.INT32]):
    buffer = pld.alloc_window_buffer([512, 64], dtype=pl.FP32)
    own = pld.window(buffer, [512, 64], dtype=pl.FP32)
    for r in pl.range(2):
        push_negative_counted(n, own, device=r)


@pl.jit.host
def one_row(n: pl.Tensor[[1, 8], pl.INT32]):
    buffer = pld.alloc_window_buffer([512], dtype=pl.FP32)
    own = pld.window(buffer, [512], dtype=pl.FP32)
    for r in pl.range(2):
        push_one_row(own, device=r)


@pl.jit.host
def one_row_counted(n: pl.Tensor[[1, 8], pl.INT32]):
    buffer = pld.alloc_window_buffer([512], dtype=pl.FP32)
    own = pld.window(buffer, [512], dtype=pl.FP32)
    for r in pl.range(2):
        push_one_row_counted(n, own, device=r)
