# Memory that some devices have: those that the host starts something on with it, counted among themselves. Device 2 is in
# two groups, device 3 in none.
#
# platforms: a5, a2a3
# test: run %s --func swapped --devices 4 --verify --arg zeros:f32[4x1x64] --arg zeros:f32[4x1x64]
# exit: 0
# check: tasks warnings
# check: all orders of the tasks on 4 devices
# check: verify clean
# check: output-in-part]: no task of the program writes elements 64 to 127, 192 to 255 of `y`, which is an output
# out[0]: f32 64*2 64*0 64*0 64*0
# out[1]: f32 64*0 64*12 64*11 64*0
# test: run %s --func summed --devices 3 --verify --arg full:f32[3x1x64]=2 --arg zeros:f32[3x1x64]
# exit: 0
# check: verify clean
# out[1]: f32 64*0 64*4 64*4
# test: run %s --func nobody --devices 3 --arg zeros:f32[3x1x64]
# exit: 1 with deadlock
# check: on device 2
import pypto.language as pl
import pypto.language.distributed as pld

NR = pl.dynamic("NR")


@pl.jit.incore
def swap(
    y: pl.Out[pl.Tensor[[1, 64], pl.FP32]],
    data: pld.DistributedTensor[[1, 64], pl.FP32],
    signal: pld.DistributedTensor[[1, 1], pl.INT32],
    number: pl.Scalar[pl.INT32],
):
    ctx = pld.get_comm_ctx(data)
    peer = 1 - pld.rank(ctx)
    data = pl.store(pl.full([1, 64], pl.FP32, pl.cast(number, pl.FP32)), [0, 0], data)
    pld.system.notify(signal, peer=peer, offsets=[0, 0], value=1, op=pld.NotifyOp.AtomicAdd)
    pld.system.wait(signal, offsets=[0, 0], expected=1, cmp=pld.WaitCmp.Ge)
    y = pl.store(pld.tile.remote_load(data, peer=peer, offsets=[0, 0], shape=[1, 64]), [0, 0], y)
    return y


@pl.jit
def swap_on(
    y: pl.Out[pl.Tensor[[1, 64], pl.FP32]],
    data: pld.DistributedTensor[[1, 64], pl.FP32],
    signal: pld.DistributedTensor[[1, 1], pl.INT32],
    number: pl.Scalar[pl.INT32],
):
    return swap(y, data, signal, number)


@pl.jit.host
def swapped(y: pl.Out[pl.Tensor[[NR, 1, 64], pl.FP32]], z: pl.Out[pl.Tensor[[NR, 1, 64], pl.FP32]]):
    one = pld.alloc_window_buffer(256)
    told_one = pld.alloc_window_buffer(4)
    two = pld.alloc_window_buffer(256)
    told_two = pld.alloc_window_buffer(4)
    for r in pl.range(0, 3, 2):
        swap_on(y[r], pld.window(one, [1, 64], dtype=pl.FP32), pld.window(told_one, [1, 1], dtype=pl.INT32), r, device=r)
    for r in pl.range(1, 3):
        swap_on(z[r], pld.window(two, [1, 64], dtype=pl.FP32), pld.window(told_two, [1, 1], dtype=pl.INT32), 10 + r, device=r)
    return y


@pl.jit.incore
def staged(x: pl.Tensor[[1, 64], pl.FP32], data: pld.DistributedTensor[[1, 64], pl.FP32]):
    data = pl.store(pl.load(x, [0, 0], [1, 64]), [0, 0], data)
    return data


@pl.jit
def stage_on(x: pl.Tensor[[1, 64], pl.FP32], data: pld.DistributedTensor[[1, 64], pl.FP32]):
    return staged(x, data)


@pl.jit.incore
def taken(data: pld.DistributedTensor[[1, 64], pl.FP32], y: pl.Out[pl.Tensor[[1, 64], pl.FP32]]):
    y = pl.store(pl.load(data, [0, 0], [1, 64]), [0, 0], y)
    return y


@pl.jit
def take_on(data: pld.DistributedTensor[[1, 64], pl.FP32], y: pl.Out[pl.Tensor[[1, 64], pl.FP32]]):
    return taken(data, y)


@pl.jit.host
def summed(x: pl.Tensor[[NR, 1, 64], pl.FP32], y: pl.Out[pl.Tensor[[NR, 1, 64], pl.FP32]]):
    # Devices 1 and 2 sum what they have; device 0 has no part of it.
    buffer = pld.alloc_window_buffer(256)
    data = pld.window(buffer, [1, 64], dtype=pl.FP32)
    for r in pl.range(1, pld.world_size()):
        stage_on(x[r], data, device=r)
    data = pld.tensor.allreduce(data)
    for r in pl.range(1, pld.world_size()):
        take_on(data, y[r], device=r)
    return y


@pl.jit.incore
def wait(data: pld.DistributedTensor[[1, 1], pl.INT32], y: pl.Out[pl.Tensor[[1, 64], pl.FP32]]):
    pld.system.wait(data, offsets=[0, 0], expected=1, cmp=pld.WaitCmp.Ge)
    y = pl.store(pl.full([1, 64], pl.FP32, 1.0), [0, 0], y)
    return y


@pl.jit
def wait_on(data: pld.DistributedTensor[[1, 1], pl.INT32], y: pl.Out[pl.Tensor[[1, 64], pl.FP32]]):
    return wait(data, y)


@pl.jit.host
def nobody(y: pl.Out[pl.Tensor[[NR, 1, 64], pl.FP32]]):
    # Nobody tells device 2: the message names it by its own number.
    told = pld.alloc_window_buffer(4)
    wait_on(pld.window(told, [1, 1], dtype=pl.INT32), y[2], device=2)
    return y
