# A shard takes a product, a gather what a lane made.
#
# test: check %s
# exit: 2
import slipring.language as pl


@pl.incore
def shard_of_a_vector_tile(x: pl.Tensor[[64, 64], pl.FP32], y: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
    for lane in pl.split_aiv(2, mode=pl.SplitMode.UP_DOWN):
        e = pl.exp(x)
        # error: boundary-operand `pl.aiv_shard` takes a result of the Cube core (in acc), this tile is in `vec`
        y[lane * 32 : lane * 32 + 32, :] = pl.aiv_shard(e)


@pl.incore
def shard_of_a_tensor(x: pl.Tensor[[64, 64], pl.FP32], y: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
    for lane in pl.split_aiv(2, mode=pl.SplitMode.UP_DOWN):
        # error: boundary-operand `pl.aiv_shard` takes a tile, not a tensor [64, 64] FP32
        y[lane * 32 : lane * 32 + 32, :] = pl.aiv_shard(x)


@pl.incore
def shard_of_a_loaded_tile(x: pl.Tensor[[64, 64], pl.FP32], y: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
    t = pl.load(x, [0, 0], [64, 64], target_memory=pl.Mem.Mat)
    for lane in pl.split_aiv(2, mode=pl.SplitMode.UP_DOWN):
        # error: boundary-operand `pl.aiv_shard` takes a result of the Cube core (in acc), this tile is in `mat`
        y[lane * 32 : lane * 32 + 32, :] = pl.aiv_shard(t)


@pl.incore
def gather_of_a_product(a: pl.Tensor[[64, 64], pl.FP16], y: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
    c = pl.matmul(a, a)
    for lane in pl.split_aiv(2, mode=pl.SplitMode.UP_DOWN):
        # error: boundary-operand `pl.aic_gather` takes a lane's tile (in vec), this tile is in `acc`
        whole = pl.aic_gather(c)
    y[:] = whole


@pl.incore
def gather_of_a_number(a: pl.Tensor[[64, 64], pl.FP16], y: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
    for lane in pl.split_aiv(2, mode=pl.SplitMode.UP_DOWN):
        # error: boundary-operand `pl.aic_gather` takes a tile, not a scalar of type INDEX
        whole = pl.aic_gather(lane)
    y[:] = pl.matmul(whole, a)
