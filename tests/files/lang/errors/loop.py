# Loops that are none of the language's.
#
# test: check %s
# exit: 2
import slipring.language as pl


@pl.incore
def over_rows(x: pl.Tensor[[64, 64], pl.FP32], y: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
    # error: loop a loop runs over `pl.range(…)` or what is listed, not over a tensor [64, 64] FP32
    for row in x:
        y[:] = x


@pl.incore
def over_a_number(x: pl.Tensor[[64, 64], pl.FP32], y: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
    # error: loop a loop runs over `pl.range(…)` or what is listed, not over the number 4
    for i in 4:
        y[:] = x


@pl.incore
def too_many(x: pl.Tensor[[64, 64], pl.FP32], y: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
    # error: loop a loop over a list is written out, and 5000 values are more than 4096
    for i, j in zip(range(5000), range(5000)):
        y[:] = x


@pl.incore
def strictly(x: pl.Tensor[[64, 64], pl.FP32], y: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
    # error: loop `zip` is strict, and its lists have 2 and 3 values
    for i, j in zip([0, 16], [0, 16, 32], strict=True):
        y[i : i + 16, :] = x[j : j + 16, :]


@pl.incore
def two_lists(x: pl.Tensor[[64, 64], pl.FP32], y: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
    # error: argument `reversed` takes a list
    for i in reversed([0, 16], [32]):
        y[i : i + 16, :] = x[i : i + 16, :]


@pl.incore
def numbered_from(x: pl.Tensor[[64, 64], pl.FP32], y: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
    # error: argument `enumerate` has no argument `begin`
    for i, row in enumerate([0, 16], begin=1):
        y[row : row + 16, :] = x[row : row + 16, :]


@pl.incore
def most_numbers(x: pl.Tensor[[64, 64], pl.FP32], y: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
    # error: loop a loop over a list is written out, and 18446744073709551615 values are more than 4096
    for i, j in zip(range(-9223372036854775808, 9223372036854775807), [0, 16]):
        y[:] = x


@pl.incore
def three_names(x: pl.Tensor[[64, 64], pl.FP32], y: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
    # error: unpack 3 names for 2 values
    for i, j, k in zip([0, 16], [0, 16]):
        y[i : i + 16, :] = x[j : j + 16, :]


@pl.incore
def over_something(x: pl.Tensor[[64, 64], pl.FP32], y: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
    # error: loop `pl.rang` is not a loop
    for i in pl.rang(4):
        y[:] = x


@pl.incore
def two_names(x: pl.Tensor[[64, 64], pl.FP32], y: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
    # error: loop a loop with `init_values` binds a counter and as many names
    for i, j in pl.range(4):
        y[:] = x


@pl.incore
def step(x: pl.Tensor[[64, 64], pl.FP32], y: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
    # error: loop the step of a loop must not be 0
    for i in pl.range(64, 0, 0):
        y[i : i + 16, :] = x[i : i + 16, :]


@pl.incore
def unrolled_step(x: pl.Tensor[[64, 64], pl.FP32], y: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
    # error: loop an unrolled loop must have a step other than 0 and at most 4096 iterations
    for i in pl.unroll(0, 64, 0):
        y[:] = x


@pl.incore
def stored_twice_as_much(x: pl.Tensor[[64, 64], pl.FP32], y: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
    # error: argument `shapes` and `clamp` exclude each other: both say how much is stored
    pl.store(pl.exp(x), [0, 0], y, [64, 64], clamp=True)
