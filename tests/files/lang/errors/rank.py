# As many offsets and extents as there are dimensions.
#
# test: check %s
# exit: 2
import slipring.language as pl


@pl.incore
def of_a_tensor(x: pl.Tensor[[64, 64], pl.FP32], y: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
    # error: rank 1 offsets and 2 extents for a tensor of 2 dimensions
    y[:] = pl.load(x, [0], [64, 64])


@pl.incore
def of_a_tile(x: pl.Tensor[[64, 64], pl.FP32], y: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
    e = pl.exp(x)
    # error: rank 1 offsets and 1 extents for a tile [64, 64]
    y[:] = pl.slice(e, [64], [0])
