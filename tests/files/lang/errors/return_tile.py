# Tiles stay on their core.
#
# test: check %s
# exit: 2
import slipring.language as pl


@pl.incore
def f(x: pl.Tensor[[64, 64], pl.FP32], y: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
    # error: return-tile a kernel cannot return a tile [64, 64] FP32 in vec
    return pl.exp(x)
