# Names of one tile that only some runs bind anew may still be one.
#
# test: check %s
# exit: 2
import slipring.language as pl


@pl.incore
def perhaps_no_iteration(x: pl.Tensor[[2, 8], pl.FP32], y: pl.Out[pl.Tensor[[2, 8], pl.FP32]], n: pl.Scalar[pl.INT32]):
    a = pl.load(x, [0, 0], [2, 8])
    b = a
    for i in pl.range(n):
        b = a + 1.0
        a = b * 2.0
    # error: alias the assigned part of a tile may also be visible through `b`
    a[0:1, :] = pl.full([1, 8], pl.FP32, 9.0)
    y[:] = a + b


@pl.incore
def in_an_arm(x: pl.Tensor[[2, 8], pl.FP32], y: pl.Out[pl.Tensor[[2, 8], pl.FP32]], n: pl.Scalar[pl.INT32]):
    a = pl.load(x, [0, 0], [2, 8])
    b = a
    if n > 0:
        for i in pl.range(2):
            b = a + 1.0
            a = b * 2.0
    # error: alias the assigned part of a tile may also be visible through `b`
    a[0:1, :] = pl.full([1, 8], pl.FP32, 9.0)
    y[:] = a + b


@pl.incore
def inside_a_loop(x: pl.Tensor[[2, 8], pl.FP32], y: pl.Out[pl.Tensor[[2, 8], pl.FP32]], n: pl.Scalar[pl.INT32]):
    a = pl.load(x, [0, 0], [2, 8])
    b = a
    for j in pl.range(n):
        for i in pl.range(2):
            b = a + 1.0
            a = b * 2.0
    # error: alias the assigned part of a tile may also be visible through `b`
    a[0:1, :] = pl.full([1, 8], pl.FP32, 9.0)
    y[:] = a + b


@pl.incore
def three_in_turn(x: pl.Tensor[[2, 8], pl.FP32], y: pl.Out[pl.Tensor[[2, 8], pl.FP32]], n: pl.Scalar[pl.INT32]):
    a = pl.load(x, [0, 0], [2, 8])
    b = a
    c = a * 2.0
    for i in pl.range(n):
        a, b, c = b, c, a
    # error: alias the assigned part of a tile may also be visible through `a`
    c[0:1, :] = pl.full([1, 8], pl.FP32, 9.0)
    y[:] = a + c


@pl.incore
def an_iteration_later(x: pl.Tensor[[2, 8], pl.FP32], y: pl.Out[pl.Tensor[[2, 8], pl.FP32]], n: pl.Scalar[pl.INT32]):
    a = pl.load(x, [0, 0], [2, 8])
    b = a
    c = a * 2.0
    for i in pl.range(4):
        # error: alias the assigned part of a tile may also be visible through `a`
        c[0:1, :] = pl.full([1, 8], pl.FP32, 9.0)
        y[:] = b
        a, b, c = b, c, a
    y[:] = a + c


@pl.incore
def bound_anew_in_the_other_arm(
    x: pl.Tensor[[2, 8], pl.FP32], y: pl.Out[pl.Tensor[[2, 8], pl.FP32]], n: pl.Scalar[pl.INT32]
):
    a = pl.load(x, [0, 0], [2, 8])
    b = a * 2.0
    c = a * 3.0
    if n < 1:
        a = b
        if n < 4:
            c, a, b = a, b, c
    else:
        for i in pl.range(3):
            c += pl.maximum(b, a)
    # error: alias the assigned part of a tile may also be visible through `a`
    c[:, 0:4] = a[:, 4:8] * 1.5
    y[:] = a + b + c
