# Rows by index, sorting and random words: arguments that do not fit one another.
#
# test: check %s
# exit: 2
import pypto.language as pl


@pl.incore
def sorts(x: pl.Tensor[[1, 64], pl.FP32], n: pl.Tensor[[1, 32], pl.UINT32], y: pl.Out[pl.Tensor[[1, 128], pl.FP32]]):
    # error: shapes 1 rows of 64 elements are sorted with 1 rows of 32 indices
    y[:] = pl.sort32(x, n)


@pl.incore
def merges(x: pl.Tensor[[1, 256], pl.FP32], y: pl.Out[pl.Tensor[[1, 256], pl.FP32]]):
    # error: argument `pl.mrgsort` of one list needs `block_len`
    y[:] = pl.mrgsort(x)


@pl.incore
def runs(x: pl.Tensor[[1, 256], pl.FP32], y: pl.Out[pl.Tensor[[1, 256], pl.FP32]]):
    # error: argument runs of 60 elements: a multiple of 64 is needed
    y[:] = pl.mrgsort(x, block_len=60)


@pl.incore
def words(y: pl.Out[pl.Tensor[[8, 8], pl.UINT32]]):
    # error: argument 9 rounds: the generator has 7 or 10
    y[:] = pl.random(0, 0, 0, 0, 0, 0, [8, 8], rounds=9)


@pl.incore
def rows(x: pl.Tensor[[8, 8], pl.FP32], n: pl.Tensor[[2, 8], pl.INT32], y: pl.Out[pl.Tensor[[8, 8], pl.FP32]]):
    # error: shapes 2 × 8 indices: each row of the table has one index
    y[:] = pl.mgather(x, n)


@pl.incore
def how(x: pl.Tensor[[8, 8], pl.FP32], n: pl.Tensor[[1, 8], pl.INT32], y: pl.Out[pl.Tensor[[8, 8], pl.FP32]]):
    # error: argument `coalesce` of `pl.mgather` is "row" or "elem", not the string "rows"
    y[:] = pl.mgather(x, n, coalesce="rows")


@pl.incore
def into_an_input(x: pl.Tensor[[8, 8], pl.FP32], n: pl.Tensor[[8, 8], pl.INT32], y: pl.Tensor[[8, 8], pl.FP32]):
    # error: read-only `y` is an input and cannot be written
    pl.mscatter(pl.load(x, [0, 0], [8, 8]), pl.load(n, [0, 0], [8, 8]), y)


@pl.incore
def updates(x: pl.Tensor[[8, 8], pl.FP32], n: pl.Tensor[[1, 4], pl.INT32], y: pl.Out[pl.Tensor[[8, 8], pl.FP32]]):
    # error: argument `dim` of `pl.scatter_update` is -2, that of the rows, not the number 0
    y[:] = pl.scatter_update(x, 0, n, x)


@pl.incore
def as_many(x: pl.Tensor[[8, 8], pl.FP32], n: pl.Tensor[[1, 4], pl.INT32], y: pl.Out[pl.Tensor[[8, 8], pl.FP32]]):
    # error: shapes 8 rows of 8 elements for 4 indices and rows of 8
    y[:] = pl.scatter_update(x, -2, n, x)


@pl.incore
def integers(x: pl.Tensor[[8, 8], pl.INT32], y: pl.Out[pl.Tensor[[8, 8], pl.INT32]]):
    # error: elem-types `pl.sin` of INT32 elements
    y[:] = pl.sin(x)


@pl.incore
def columns(x: pl.Tensor[[8, 8], pl.FP32], y: pl.Out[pl.Tensor[[8, 8], pl.FP32]]):
    # error: shapes [8, 8] elements go to every 2. column of [8, 8] (P0101)
    y[:] = pl.tile.scatter_mask(pl.load(x, [0, 0], [8, 8]), pl.load(x, [0, 0], [8, 8]), 1)


@pl.incore
def larger(x: pl.Tensor[[8, 8], pl.FP32], y: pl.Out[pl.Tensor[[8, 8], pl.FP32]]):
    # error: shapes [8, 8] cannot be repeated to [8, 4]
    y[:] = pl.tensor.expand_clone(x, x[:, 0:4])
