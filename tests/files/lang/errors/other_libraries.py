# Functions of other libraries, which a kernel calls by the language's own names; results of functions that return nothing.
#
# test: check %s
# exit: 2
# check: a kernel calls the language's own: `pl.exp`
# check: a kernel calls the language's own: `pl.where`
# check: a kernel calls the language's own: `pl.sqrt`
# check: it is made of `pl.row_max`
# check: it is `pl.row_sum(x)` of each row
# check: the language has `pl.concat`
# check: it has no `return`
# check: an FP32 scalar where
import math

import numpy as np
import slipring.language as pl


@pl.incore
def numpy(x: pl.Tensor[[64, 64], pl.FP32], y: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
    # error: unknown-op there is no `numpy.exp`
    t = np.exp(x)
    # error: unknown-op there is no `numpy.where`
    u = np.where(x > 0.0, x, x)
    # error: unknown-op there is no `math.sqrt`
    y[:] = math.sqrt(x)


@pl.incore
def own(x: pl.Tensor[[64, 64], pl.FP32], y: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
    # error: unknown-op there is no `pl.softmax`
    t = pl.softmax(x)
    # error: unknown-op there is no `pl.sum`
    u = pl.sum(x)
    # error: unknown-op there is no `pl.hstack`
    y[:] = pl.hstack(x, x)


@pl.inline
def shifted(t):
    pl.add(t, 1.0)


@pl.incore
def nothing(x: pl.Tensor[[64, 64], pl.FP32], y: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
    # error: value-kind `shifted` gives nothing back
    t = shifted(x)
    y[:] = t


@pl.incore
def kinds(x: pl.Tensor[[64, 64], pl.INT32], n: pl.Tensor[[1, 8], pl.FP32], y: pl.Out[pl.Tensor[[64, 64], pl.INT32]]):
    k = pl.read(n, [0, 0])
    # error: scalar-type an FP32 scalar where an INT32 one is needed
    y[:] = pl.add(x, k)
