# A declaration that does not say what the value is.
#
# test: check %s
# exit: 2
import slipring.language as pl


@pl.incore
def f(x: pl.Tensor[[64, 64], pl.FP32], y: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
    # error: annotation this is declared [32, 64] FP32 and is [64, 64] FP32
    t: pl.Tile[[32, 64], pl.FP32] = pl.exp(x)
    y[:] = t
