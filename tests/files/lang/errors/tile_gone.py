# An accumulator has been overwritten by what was added to it.
#
# test: check %s
# exit: 2
import slipring.language as pl


@pl.incore
def f(x: pl.Tensor[[64, 64], pl.FP32], y: pl.Out[pl.Tensor[[64, 64], pl.FP32]], z: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
    first = pl.matmul(x, x)
    both = pl.matmul_acc(first, x, x)
    y[:] = both
    # error: tile-gone this tile has been overwritten
    z[:] = first
