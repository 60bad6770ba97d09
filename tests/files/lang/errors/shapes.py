# Shapes that do not go together.
#
# test: check %s
# exit: 2
import slipring.language as pl


@pl.incore
def add(x: pl.Tensor[[64, 64], pl.FP32], v: pl.Tensor[[64, 32], pl.FP32], y: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
    # error: shapes `pl.add` of tiles [64, 64] and [64, 32]
    y[:] = x + v


@pl.incore
def subtract(x: pl.Tensor[[64, 64], pl.FP32], v: pl.Tensor[[1, 32], pl.FP32], y: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
    # error: shapes `pl.sub` of tiles [64, 64] and [1, 32]
    y[:] = x - v


@pl.incore
def product(a: pl.Tensor[[64, 32], pl.FP16], b: pl.Tensor[[64, 32], pl.FP16], y: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
    # error: shapes a product of [64, 32] and [64, 32]: the inner extents differ
    y[:] = pl.matmul(a, b)


@pl.incore
def accumulate(a: pl.Tensor[[64, 64], pl.FP16], y: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
    acc = pl.matmul(a, a)
    # error: shapes a product [32, 64] is added to an accumulator [64, 64]
    y[:] = pl.matmul_acc(acc, a[0:32, :], a)


@pl.incore
def values_of_rows(x: pl.Tensor[[64, 64], pl.FP32], y: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
    # error: shapes `pl.row_expand_mul` of a tile [64, 64] takes values [64, 1], not [1, 64]
    y[:] = pl.row_expand_mul(x, pl.col_max(x))


@pl.incore
def reshape(x: pl.Tensor[[64, 64], pl.FP32], y: pl.Out[pl.Tensor[[64, 32], pl.FP32]]):
    # error: shapes [64, 64] has 4096 elements, [64, 32] has 2048
    y[:] = pl.reshape(x, [64, 32])


@pl.incore
def concat(x: pl.Tensor[[64, 64], pl.FP32], y: pl.Out[pl.Tensor[[64, 128], pl.FP32]]):
    # error: shapes tiles [64, 64] and [32, 64] side by side
    y[:] = pl.concat(pl.exp(x), pl.exp(x[0:32, :]))


@pl.incore
def lists(
    x: pl.Tensor[[2, 16, 16], pl.FP16], v: pl.Tensor[[3, 16, 16], pl.FP16], y: pl.Out[pl.Tensor[[2, 16, 16], pl.FP32]]
):
    # error: shapes products of lists [2, 16, 16] and [3, 16, 16] of matrices
    y[:] = pl.matmul(x, v)


@pl.incore
def list_onto_one(x: pl.Tensor[[2, 16, 16], pl.FP16], y: pl.Out[pl.Tensor[[2, 16, 16], pl.FP32]]):
    acc = pl.matmul(x[0], x[0])
    # error: shapes products of lists are added to one accumulator
    acc = pl.matmul_acc(acc, x, x)
    y[0] = acc
