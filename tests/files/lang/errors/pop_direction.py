# What a kernel for both kinds of core pushes and pops itself: the direction of a pop must follow from the text, both ends must be there,
# and a tile is pushed by the core that has it.
#
# test: check %s
# exit: 2
import slipring.language as pl


@pl.incore
def direction(x: pl.Tensor[[16, 16], pl.FP32], y: pl.Out[pl.Tensor[[16, 16], pl.FP32]]):
    TPUSH(pl.matmul(x, x))
    TPUSH(pl.exp(x))
    # error: pop-direction tiles of both directions have been pushed before
    a = TPOP()
    y[:] = a


@pl.incore
def space(x: pl.Tensor[[16, 16], pl.FP32], y: pl.Out[pl.Tensor[[16, 16], pl.FP32]]):
    # error: push-space the cube core pushes tiles in `acc`, and this one is in `vec`
    pl.tpush_to_aiv(pl.exp(x))
    y[:] = x


@pl.incore
def shapes(x: pl.Tensor[[32, 16], pl.FP32], w: pl.Tensor[[16, 16], pl.FP32], y: pl.Out[pl.Tensor[[16, 16], pl.FP32]]):
    TPUSH(pl.matmul(x, w))
    TPUSH(pl.matmul(x[0:16, :], w))
    # error: pop-type tiles of different shapes or types are pushed into this ring
    a = TPOP()
    y[:] = a[0:16, :]
