# Which of two tensors a name stands for is not carried where the number of iterations is not known; what a loop or branch
# loaded so that a name is a tile on every path is not read after its tensor was written.
#
# test: check %s
# exit: 2
import slipring.language as pl


@pl.incore
def exchanged(
    x: pl.Tensor[[1, 8], pl.FP32],
    z: pl.Tensor[[1, 8], pl.FP32],
    y: pl.Out[pl.Tensor[[1, 8], pl.FP32]],
    n: pl.Scalar[pl.INT32],
):
    s, d = x, z
    # error: carry whether `s` is a window of `x` or of `z` is known only at run time
    for i in pl.range(n):
        s, d = d, s
    y[:] = s


@pl.incore
def chosen(
    x: pl.Tensor[[1, 8], pl.FP32],
    z: pl.Tensor[[1, 8], pl.FP32],
    y: pl.Out[pl.Tensor[[1, 8], pl.FP32]],
    n: pl.Scalar[pl.INT32],
):
    s = x
    # error: carry whether `s` is a window of `z` or of `x` is known only at run time
    if n > 0:
        s = z
    y[:] = s + 1.0


@pl.incore
def written(x: pl.Tensor[[1, 8], pl.FP32], y: pl.InOut[pl.Tensor[[1, 8], pl.FP32]], n: pl.Scalar[pl.INT32]):
    t = y[:, :]
    for i in pl.range(n):
        # error: carry `y` is written while `t` may still be a window of it
        y[:] = x
        t = t + 1.0
    y[:] = t


@pl.incore
def another_op(x: pl.Tensor[[1, 8], pl.FP32], y: pl.Out[pl.Tensor[[1, 8], pl.FP32]], n: pl.Scalar[pl.INT32]):
    op = pl.add
    t = x + 1.0
    # error: carry-type `op` is `pl.add` when an iteration begins and `pl.mul` when it ends
    for i in pl.range(n):
        t = op(t, t)
        op = pl.mul
    y[:] = t


@pl.incore
def counter(x: pl.Tensor[[1, 8], pl.FP32], y: pl.Out[pl.Tensor[[1, 8], pl.FP32]], n: pl.Scalar[pl.INT32]):
    i = 3
    for i in pl.range(n):
        y[:] = x
    # error: undefined-name `i` is not defined
    y[:] = x * i
