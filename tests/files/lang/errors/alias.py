# One tile of the text that a loop or branch had to put into two buffers is not changed in place.
#
# test: check %s
# exit: 2
import slipring.language as pl


@pl.incore
def in_the_loop(x: pl.Tensor[[2, 8], pl.FP32], y: pl.Out[pl.Tensor[[2, 8], pl.FP32]], n: pl.Scalar[pl.INT32]):
    t = pl.load(x, [0, 0], [2, 8])
    u = t
    for i in pl.range(n):
        # error: alias the assigned part of a tile may also be visible through `u`
        t[0:1, :] = pl.full([1, 8], pl.FP32, 9.0)
        t = t + 1.0
    y[:] = u + t


@pl.incore
def behind_it(x: pl.Tensor[[2, 8], pl.FP32], y: pl.Out[pl.Tensor[[2, 8], pl.FP32]], n: pl.Scalar[pl.INT32]):
    t = pl.load(x, [0, 0], [2, 8])
    u = t
    if n > 0:
        t = t + 1.0
    # error: alias the assigned part of a tile may also be visible through `u`
    t[0:1, :] = pl.full([1, 8], pl.FP32, 9.0)
    y[:] = u + t


@pl.incore
def a_window_then(x: pl.Tensor[[2, 8], pl.FP32], y: pl.Out[pl.Tensor[[2, 8], pl.FP32]]):
    t = pl.load(x, [0, 0], [2, 8])
    for i in pl.range(2):
        # error: alias a part of a tile is assigned to that may still be a window of `x`
        t[0:1, :] = pl.full([1, 8], pl.FP32, 9.0)
        t = x[:, :]
    y[:] = t


@pl.incore
def a_window_before(x: pl.Tensor[[2, 8], pl.FP32], y: pl.Out[pl.Tensor[[2, 8], pl.FP32]], n: pl.Scalar[pl.INT32]):
    t = x[:, :]
    for i in pl.range(n):
        t = t + 1.0
    # error: alias a part of a tile is assigned to that may still be a window of `x`
    t[0:1, :] = pl.full([1, 8], pl.FP32, 9.0)
    y[:] = t


@pl.incore
def next_iteration(x: pl.Tensor[[2, 8], pl.FP32], y: pl.Out[pl.Tensor[[2, 8], pl.FP32]], n: pl.Scalar[pl.INT32]):
    t = pl.load(x, [0, 0], [2, 8])
    u = x + 1.0
    for i in pl.range(n):
        # error: alias the assigned part of a tile may also be visible through `u`
        t[0:1, :] = pl.full([1, 8], pl.FP32, 9.0)
        t = u
    y[:] = u + t
