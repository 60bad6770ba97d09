# What a loop carries stays what it is.
#
# test: check %s
# exit: 2
import slipring.language as pl


@pl.incore
def shape(x: pl.Tensor[[64, 64], pl.FP32], y: pl.Out[pl.Tensor[[64, 64], pl.FP32]], n: pl.Scalar[pl.INT32]):
    t = pl.load(x, [0, 0], [64, 64])
    # error: carry-type a name stands for a tile [64, 64] FP32 before and [64, 1] FP32 after
    for i in pl.range(n):
        t = pl.row_max(t)
    y[:, 0:1] = t


@pl.incore
def kind(x: pl.Tensor[[64, 64], pl.FP32], y: pl.Out[pl.Tensor[[64, 64], pl.FP32]], n: pl.Scalar[pl.INT32]):
    t = pl.load(x, [0, 0], [64, 64])
    # error: carry-type `t` is a tile [64, 64] FP32 in vec when an iteration begins and the number 3.0 when it ends
    for i in pl.range(n):
        y[:] = t
        t = 3.0
