# An element at constants that is not in the valid part of its tile has no value: an error. Before, nothing was stored.
#
# test: check %s
# exit: 2
import slipring.language as pl


@pl.incore
def outside(x: pl.Tensor[[8, 16], pl.FP32], y: pl.InOut[pl.Tensor[[1], pl.FP32]]):
    t = pl.load(x, [0, 0], [8, 16], valid_shape=[6, 8])
    # error: partly-valid an element that is not in the valid part of this tile
    y[0] = t[6, 0]
