# Names that arms of branches, or iterations, make stand for one tile: a write to a part of it is refused where the compiler
# gave each a buffer of its own.
#
# test: check %s
# exit: 2
import slipring.language as pl


@pl.incore
def one_new_tile(
    x: pl.Tensor[[4, 16], pl.FP32], n: pl.Scalar[pl.INT32], y: pl.InOut[pl.Tensor[[8, 16], pl.FP32]]
):
    t1 = pl.load(x, [0, 0], [4, 16])
    t2 = t1 + 1.0
    if n < 2:
        t2 = t2 * 2.0
    else:
        t2 = t1 - t2
        t1 = t2
    # error: alias the assigned part of a tile may also be visible through `t2`
    t1[0:1, :] = t1[0:1, :] + 1.0
    y[0:4, :] = t1
    y[4:8, :] = t2


@pl.incore
def one_arm_keeps_it(
    x: pl.Tensor[[4, 16], pl.FP32], n: pl.Scalar[pl.INT32], y: pl.InOut[pl.Tensor[[8, 16], pl.FP32]]
):
    t1 = pl.load(x, [0, 0], [4, 16])
    t2 = t1 + 1.0
    if n < 4:
        t2 = t1
    else:
        t1 = t1 - t2
    # error: alias the assigned part of a tile may also be visible through `t1`
    t2[0:1, :] = t1[1:2, :] + 1.0
    y[0:4, :] = t1
    y[4:8, :] = t2


@pl.incore
def in_an_inner_branch(
    x: pl.Tensor[[4, 16], pl.FP32], n: pl.Scalar[pl.INT32], y: pl.InOut[pl.Tensor[[8, 16], pl.FP32]]
):
    t1 = pl.load(x, [0, 0], [4, 16])
    t2 = t1 + 1.0
    if n == 3:
        t2 = t2 + 1.0
    else:
        t2 = t1
        if n != 1:
            t1 = t1 + t1
    # error: alias the assigned part of a tile may also be visible through `t1`
    t2[0:1, :] = t1[1:2, :] + 1.0
    y[0:4, :] = t1
    y[4:8, :] = t2


@pl.incore
def a_window_of_the_iteration_before(
    x: pl.InOut[pl.Tensor[[4, 16], pl.FP32]], n: pl.Scalar[pl.INT32], y: pl.InOut[pl.Tensor[[8, 16], pl.FP32]]
):
    t1 = pl.load(x, [0, 0], [2, 16])
    t2 = t1 + 1.0
    for i in pl.range(n):
        t1 = t2
        t2 = x[1:3, :]
    # error: alias a part of a tile is assigned to that may still be a window of `x`
    t1[0:1, :] = t1[0:1, :] + 1.0
    y[0:2, :] = t1
    y[2:4, :] = t2
