# A tile of which only a part is valid, where all of it is needed; operands of which other parts are.
#
# test: check %s
# exit: 2
import slipring.language as pl


@pl.incore
def reshaped(x: pl.Tensor[[64, 64], pl.FP32], y: pl.Out[pl.Tensor[[32, 128], pl.FP32]]):
    t = pl.set_validshape(pl.exp(x), 41, 64)
    # error: partly-valid a reshape of a partially valid tile
    y[:] = pl.reshape(t, [32, 128])


@pl.incore
def inner(x: pl.Tensor[[64, 64], pl.FP16], v: pl.Tensor[[64, 64], pl.FP16], y: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
    part = pl.slice(v, [64, 64], [0, 0], valid_shape=[40, 64])
    # error: partly-valid a product of 64 valid columns and 40 valid rows
    y[:] = pl.matmul(x, part)


@pl.incore
def filled(x: pl.Tensor[[64, 64], pl.FP32], y: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
    t = pl.load(x, [0, 0], [64, 64], valid_shape=[40, 64])
    # error: argument the number 1 fills no tile
    y[:] = pl.fillpad(t, 1)
