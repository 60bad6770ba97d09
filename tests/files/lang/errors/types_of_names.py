# Python does not look at annotations of names in functions; here each must name a type.
#
# test: check %s
# exit: 2
import slipring.language as pl


@pl.incore
def f(x: pl.Tensor[[64], pl.FP32], y: pl.Out[pl.Tensor[[64], pl.FP32]]):
    # error: undefined-name `plq` is not defined
    a: plq.Tile[[64], pl.FP32] = pl.load(x, [0], [64])
    # error: annotation `pl.Tils` is not a type
    b: pl.Tils[[64], pl.FP32] = pl.load(x, [0], [64])
    # error: annotation a scalar's type is such as `pl.INT32`
    n: pl.Scalar[pl.Tensor] = 3
    # error: undefined-name `Extent` is not defined
    m: Extent = 3
    y[:] = pl.load(x, [0], [64])
