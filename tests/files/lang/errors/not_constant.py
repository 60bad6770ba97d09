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
def end_of_a_slice(x: pl.Tensor[[64, 64], pl.FP32], y: pl.Out[pl.Tensor[[64, 64], pl.FP32]], n: pl.Scalar[pl.INT32]):
    # error: not-constant the end of this slice is known only when the kernel runs, and its extent must be constant
    y[0:n, :] = x[0:n, :]


@pl.incore
def blocks(x: pl.Tensor[[64, 64], pl.FP32], y: pl.Out[pl.Tensor[[64, 64], pl.FP32]], n: pl.Scalar[pl.INT32]):
    # error: not-constant the number of blocks must be a constant integer, this is a scalar of type INT32
    for block in pl.spmd(n):
        y[:] = x
