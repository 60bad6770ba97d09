# The body of a region runs on the Vector cores: no products there, in any mode.
#
# test: check %s
# exit: 2
import slipring.language as pl


@pl.incore
def rows(a: pl.Tensor[[64, 64], pl.FP16], y: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
    for lane in pl.split_aiv(2, mode=pl.SplitMode.UP_DOWN):
        # error: cube-in-region `pl.matmul` inside a `split_aiv` region
        y[:] = pl.matmul(a, a)


@pl.incore
def whole(a: pl.Tensor[[64, 64], pl.FP16], y: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
    for lane in pl.split_aiv(2, mode=pl.SplitMode.NONE):
        # error: cube-in-region `pl.matmul` inside a `split_aiv` region
        y[:] = pl.matmul(a, a)


@pl.incore
def of_a_half(a: pl.Tensor[[64, 64], pl.FP16], v: pl.Tensor[[64, 64], pl.FP32], y: pl.Out[pl.Tensor[[32, 64], pl.FP32]]):
    c = pl.matmul(a, a)
    for lane in pl.split_aiv(2, mode=pl.SplitMode.UP_DOWN):
        # error: cube-in-region `pl.matmul` inside a `split_aiv` region
        y[:] = pl.matmul(pl.exp(pl.aiv_shard(c)), v)


@pl.incore
def accumulated(a: pl.Tensor[[64, 64], pl.FP16], y: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
    c = pl.matmul(a, a)
    for lane in pl.split_aiv(2, mode=pl.SplitMode.UP_DOWN):
        # error: cube-in-region `pl.matmul_acc` inside a `split_aiv` region
        c = pl.matmul_acc(c, a, a)
    y[:] = c


@pl.incore
def moved_to_it(a: pl.Tensor[[64, 64], pl.FP16], y: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
    c = pl.matmul(a, a)
    for lane in pl.split_aiv(2, mode=pl.SplitMode.UP_DOWN):
        # error: cube-in-region a tile of a region goes to the Cube core inside the region
        half = pl.move(pl.exp(pl.aiv_shard(c)), pl.Mem.Mat)
    y[:] = c
