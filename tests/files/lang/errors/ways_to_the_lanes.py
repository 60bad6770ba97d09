# What a region reads of the Cube core's tiles, and the way that each has to the lanes.
#
# test: check %s
# exit: 2
# check: help: what lies in UB already is each lane's own: take a part of it
# check: help: no way leads from L1 to UB: load this lane's part from the tensor itself, `pl.load(tensor, offsets, shapes)` in the region
# check: help: there is no path from L1 to UB: shard the product itself, before it is moved
# check: help: no way leads from L1 to UB: use the lane's own tile, which was gathered
# check: help: take this lane's half with `pl.aiv_shard(…)` at the top of the region, and parts of that
import slipring.language as pl


@pl.incore
def own(x: pl.Tensor[[64, 64], pl.FP32], y: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
    for lane in pl.split_aiv(2, mode=pl.SplitMode.UP_DOWN):
        e = pl.exp(x)
        # error: boundary-operand `pl.aiv_shard` takes a result of the Cube core (in acc), this tile is in `vec`
        y[lane * 32 : lane * 32 + 32, :] = pl.aiv_shard(e)


@pl.incore
def loaded(x: pl.Tensor[[64, 64], pl.FP32], y: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
    t = pl.load(x, [0, 0], [64, 64], target_memory=pl.Mem.Mat)
    for lane in pl.split_aiv(2, mode=pl.SplitMode.UP_DOWN):
        # error: boundary-operand `pl.aiv_shard` takes a result of the Cube core (in acc), this tile is in `mat`
        y[lane * 32 : lane * 32 + 32, :] = pl.aiv_shard(t)


@pl.incore
def moved(x: pl.Tensor[[64, 64], pl.FP16], y: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
    t = pl.move(pl.matmul(x, x), target_memory=pl.Mem.Mat)
    for lane in pl.split_aiv(2, mode=pl.SplitMode.UP_DOWN):
        # error: boundary-operand `pl.aiv_shard` takes a result of the Cube core (in acc), this tile is in `mat`
        y[lane * 32 : lane * 32 + 32, :] = pl.aiv_shard(t)


@pl.incore
def gathered(x: pl.Tensor[[64, 64], pl.FP32], y: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
    for lane in pl.split_aiv(2, mode=pl.SplitMode.UP_DOWN):
        row = lane * 32
        t = pl.aic_gather(pl.exp(x[row : row + 32, :]))
    for lane in pl.split_aiv(2, mode=pl.SplitMode.UP_DOWN):
        # error: boundary-operand `pl.aiv_shard` takes a result of the Cube core (in acc), this tile is in `mat`
        y[lane * 32 : lane * 32 + 32, :] = pl.aiv_shard(t)


@pl.incore
def part(x: pl.Tensor[[64, 64], pl.FP16], y: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
    s = pl.matmul(x, x)
    for lane in pl.split_aiv(2, mode=pl.SplitMode.UP_DOWN):
        row = lane * 32
        # error: implicit-shard a part of a product is read on the Vector cores without a shard
        y[row : row + 32, :] = s[row : row + 32, :]
