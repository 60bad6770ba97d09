# A tile of which only a part is valid, where all of it is needed.
#
# test: check %s
# exit: 2
import slipring.language as pl


@pl.incore
def crossing(x: pl.Tensor[[64, 64], pl.FP32], v: pl.Tensor[[64, 64], pl.FP32], y: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
    t = pl.set_validshape(pl.exp(x), 40, 64)
    # error: partly-valid a crossing of a tile of which only a part is valid
    y[:] = pl.matmul(t, v)
