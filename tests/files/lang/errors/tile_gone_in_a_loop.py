# What accumulates in place takes the buffer from every name of the tile, and from the next iteration.
#
# test: check %s
# exit: 2
import slipring.language as pl


@pl.incore
def other_name(x: pl.Tensor[[16, 16], pl.FP32], y: pl.Out[pl.Tensor[[16, 16], pl.FP32]], n: pl.Scalar[pl.INT32]):
    c = pl.matmul(x, x)
    d = c
    for i in pl.range(n):
        c = pl.matmul_acc(c, x, x)
    # error: tile-gone this tile has been overwritten
    y[:] = d


@pl.incore
def next_iteration(x: pl.Tensor[[16, 16], pl.FP32], y: pl.Out[pl.Tensor[[16, 16], pl.FP32]], n: pl.Scalar[pl.INT32]):
    c = pl.matmul(x, x)
    for i in pl.range(n):
        # error: tile-gone an iteration overwrites this tile in place, and the next one needs it again
        r = pl.matmul_acc(c, x, x)
        y[:] = r
