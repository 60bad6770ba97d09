# A tile has at most 2^24 rows and columns, however large the memory of a platform is.
#
# test: check %s
# exit: 2
import slipring.language as pl


@pl.incore
def wide(x: pl.Tensor[[1, 33554432], pl.FP32], y: pl.Out[pl.Tensor[[1, 33554432], pl.FP32]]):
    # error: type tiles have 1 to 16777216 rows and columns, not 33554432
    t = pl.load(x, [0, 0], [1, 33554432])
    pl.store(t, [0, 0], y)
