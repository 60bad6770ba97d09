# A window without the extents of 1 in front that the parameter has: the same elements in the same order.
#
# platforms: a5, a2a3
# test: run %s --verify --arg full:f32[2x1x64]=2 --arg zeros:f32[2x1x64]
# exit: 0
# check: verify clean
# out[1]: f32 128*4
import pypto.language as pl
import pypto.language.distributed as pld


@pl.jit.incore
def doubled(
    x: pl.Tensor[[1, 64], pl.FP32],
    y: pl.Out[pl.Tensor[[1, 64], pl.FP32]],
    data: pld.DistributedTensor[[1, 64], pl.FP32],
):
    tile = pl.load(x, [0, 0], [1, 64])
    data = pl.store(pl.add(tile, tile), [0, 0], data)
    y = pl.store(pl.load(data, [0, 0], [1, 64]), [0, 0], y)
    return y


@pl.jit
def on_a_device(
    x: pl.Tensor[[1, 64], pl.FP32],
    y: pl.Out[pl.Tensor[[1, 64], pl.FP32]],
    data: pld.DistributedTensor[[1, 64], pl.FP32],
):
    return doubled(x, y, data)


@pl.jit.host
def on_all(x: pl.Tensor[[2, 1, 64], pl.FP32], y: pl.Out[pl.Tensor[[2, 1, 64], pl.FP32]]):
    buffer = pld.alloc_window_buffer(64 * pl.FP32.get_byte())
    for r in pl.range(2):
        data = pld.window(buffer, [64], dtype=pl.FP32)
        on_a_device(x[r], y[r], data, device=r)
    return y
