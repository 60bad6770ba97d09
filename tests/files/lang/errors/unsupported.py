# Python that the language does not have.
#
# test: check %s
# check: help: take the rows one by one, `x[2 * i : 2 * i + 1, :]`
# exit: 2
import slipring.language as pl


@pl.incore
def assertion(x: pl.Tensor[[64, 64], pl.FP32], y: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
    # error: assert `x.shape[0] == 32` does not hold
    assert x.shape[0] == 32
    y[:] = x


@pl.incore
def comprehension(x: pl.Tensor[[64, 64], pl.FP32], y: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
    # error: unsupported a comprehension of a set, a dict or a generator in a kernel cannot be compiled
    rows = {i for i in range(4)}
    y[:] = x


@pl.incore
def step_of_a_slice(x: pl.Tensor[[64, 64], pl.FP32], y: pl.Out[pl.Tensor[[32, 64], pl.FP32]]):
    # error: unsupported a step in a slice cannot be compiled yet
    y[:] = x[0:64:2, :]


@pl.incore
def star(x: pl.Tensor[[64, 64], pl.FP32], y: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
    offsets = [0, 0]
    # error: unsupported `*` in a call cannot be compiled yet
    y[:] = pl.load(x, *offsets)


@pl.incore
def nameless(x: pl.Tensor[[64, 64], pl.FP32], y: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
    # error: unsupported a lambda in a kernel cannot be compiled
    twice = lambda t: pl.add(t, t)
    y[:] = x


@pl.incore
def attempt(x: pl.Tensor[[64, 64], pl.FP32], y: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
    # error: unsupported `try` in a kernel cannot be compiled
    try:
        y[:] = x
    except ValueError:
        y[:] = x


@pl.incore
def inner(x: pl.Tensor[[64, 64], pl.FP32], y: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
    # error: unsupported a function inside of a kernel cannot be compiled
    def twice(t):
        return pl.add(t, t)

    y[:] = x


@pl.incore
def numbers(x: pl.Tensor[[64, 64], pl.FP32], y: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
    # error: unsupported a set in a kernel cannot be compiled
    names = {64, 32}
    y[:] = x
