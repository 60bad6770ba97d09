# test: check %s
# exit: 2
import slipring.language as pl


@pl.incore
def one_axis(x: pl.Tensor[[8, 16], pl.FP32], out: pl.Out[pl.Tensor[[16, 8], pl.FP32]]):
    # error: argument a transpose exchanges two axes, and these are one
    out[:] = pl.transpose(x[:], 1, -1)


@pl.incore
def no_axis(x: pl.Tensor[[8, 16], pl.FP32], out: pl.Out[pl.Tensor[[16, 8], pl.FP32]]):
    # error: bounds there is no axis 2
    out[:] = pl.transpose(x[:], 0, 2)


@pl.incore
def outer(x: pl.Tensor[[2, 8, 16], pl.FP32], out: pl.Out[pl.Tensor[[8, 2, 16], pl.FP32]]):
    # error: unsupported a transpose of the axes 0 and 1 of a tile [2, 8, 16]
    out[:] = pl.transpose(x[:], 0, 1)
