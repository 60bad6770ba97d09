# An element of an input is not written either.
#
# platforms: a5, a2a3
# test: check %s
# exit: 2
import slipring.language as pl


@pl.incore
def written(x: pl.Tensor[[16, 64], pl.FP32], out: pl.Out[pl.Tensor[[16, 64], pl.FP32]]):
    out[:, :] = x[:, :] + 1.0
    # error: read-only `x` is an input and cannot be written
    pl.write(x, [0, 0], 1.0)


@pl.incore
def indexed(x: pl.Tensor[[16, 64], pl.FP32], out: pl.Out[pl.Tensor[[16, 64], pl.FP32]]):
    out[:, :] = x[:, :] + 1.0
    # error: read-only `x` is an input and cannot be written
    x[0, 0] = 1.0
