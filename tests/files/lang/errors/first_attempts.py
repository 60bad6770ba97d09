# What those write who come from elsewhere, and what they are told.
#
# test: check %s
# exit: 2
# check: help: a quotient of `/` is a float: `//` gives an integer
# check: help: the extent of a tensor is `x.shape[0]`
# check: help: an element is read with `pl.read(x, [i, j])`
# check: help: the shape comes first: `pl.Tensor[[64, 64], pl.FP32]`
# check: help: write `pl.FP16`
import slipring.language as pl


@pl.jit
def half(x: pl.Tensor[[8, 8], pl.FP32], y: pl.InOut[pl.Tensor[[8, 8], pl.FP32]]):
    n = x.shape[0] / 2
    # error: not-constant must be a constant integer, this is the number 4.0
    y[0:4, :] = x[0:n, :]


@pl.jit
def length(x: pl.Tensor[[8, 8], pl.FP32], y: pl.Out[pl.Tensor[[8, 8], pl.FP32]]):
    # error: unknown-op there is no `len`
    for i in pl.range(len(x)):
        y[i : i + 1, :] = x[i : i + 1, :]


@pl.jit
def both(x: pl.Tensor[[8, 8], pl.FP32], y: pl.Out[pl.Tensor[[8, 8], pl.FP32]]):
    i = pl.get_block_idx()
    # error: condition a condition is a boolean, not a tensor [8, 8] FP32
    if i == 0 and x:
        y[:] = x


@pl.jit
# error: parameter extents must be constant integers, but this is the type FP32
def order(x: pl.Tensor[pl.FP32, [8, 8]], y: pl.Out[pl.Tensor[[8, 8], pl.FP32]]):
    y[:] = x


@pl.jit
# error: parameter elements have a type such as `pl.FP32`, this is the string "float16"
def named(x: pl.Tensor[[8, 8], "float16"], y: pl.Out[pl.Tensor[[8, 8], pl.FP16]]):
    y[:] = x
