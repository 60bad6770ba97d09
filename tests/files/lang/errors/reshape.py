# A tile whose rows are padded does not look like another one.
#
# test: check %s
# exit: 2
import slipring.language as pl


@pl.incore
def f(x: pl.Tensor[[16, 4], pl.FP32], y: pl.Out[pl.Tensor[[4, 16], pl.FP32]]):
    e = pl.exp(x)
    # error: reshape a tile [16, 4] cannot be looked at as [4, 16]
    y[:] = pl.reshape(e, [4, 16])
