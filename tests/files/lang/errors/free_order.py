# A free is of the tile that it names: slots are given back in the order of the pops, once, and only slots are.
#
# test: check %s
# exit: 2
import slipring.language as pl


@pl.incore
def twice(x: pl.Tensor[[16, 16], pl.FP32], y: pl.Out[pl.Tensor[[16, 16], pl.FP32]]):
    for i in pl.range(2):
        TPUSH(pl.matmul(x, x))
    a = TPOP()
    b = TPOP()
    # error: free-order a tile that was popped before this one is still held
    TFREE(b)
    y[:] = a + b
    TFREE(a)
    # error: double-free the slot of this tile has been given back already
    TFREE(a)


@pl.incore
def other(x: pl.Tensor[[16, 16], pl.FP32], y: pl.Out[pl.Tensor[[16, 16], pl.FP32]]):
    TPUSH(pl.matmul(x, x))
    a = TPOP()
    b = a * 2.0
    # error: free-tile this tile is in no slot of a ring
    TFREE(b)
    y[:] = b
