# What must be known when the kernel is compiled.
#
# test: check %s
# exit: 2
import slipring.language as pl


@pl.incore
def unroll(x: pl.Tensor[[64, 64], pl.FP32], y: pl.Out[pl.Tensor[[64, 64], pl.FP32]], n: pl.Scalar[pl.INT32]):
    # error: not-constant the end of an unrolled loop must be a constant integer, this is a scalar of type INT32
    for i in pl.unroll(n):
        y[i, :] = x[i, :]


@pl.incore
def rows(x: pl.Tensor[[64, 64], pl.FP32], y: pl.Out[pl.Tensor[[64, 64], pl.FP32]], n: pl.Scalar[pl.INT32]):
    # error: argument
    y[:] = pl.load(x, [0, 0], [n, 64])


@pl.incore
def blocks(x: pl.Tensor[[64, 64], pl.FP32], y: pl.Out[pl.Tensor[[64, 64], pl.FP32]], n: pl.Scalar[pl.INT32]):
    # error: not-constant the number of blocks must be a constant integer, this is a scalar of type INT32
    for block in pl.spmd(n):
        y[:] = x
