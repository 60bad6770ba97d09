# Loops that are none of the language's.
#
# test: check %s
# exit: 2
import slipring.language as pl


@pl.incore
def over_a_list(x: pl.Tensor[[64, 64], pl.FP32], y: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
    # error: loop a kernel's loop runs over `pl.range(…)`
    for i in [0, 16, 32]:
        y[i : i + 16, :] = x[i : i + 16, :]


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
    # error: loop the step of a loop is not 0
    for i in pl.range(64, 0, 0):
        y[i : i + 16, :] = x[i : i + 16, :]


@pl.incore
def unrolled_step(x: pl.Tensor[[64, 64], pl.FP32], y: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
    # error: loop an unrolled loop has a step that is not 0 and at most 4096 iterations
    for i in pl.unroll(0, 64, 0):
        y[:] = x
