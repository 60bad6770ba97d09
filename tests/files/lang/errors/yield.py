# What `pl.yield_` ends.
#
# test: check %s
# exit: 2
import slipring.language as pl


@pl.incore
def missing(x: pl.Tensor[[64, 64], pl.FP32], y: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
    t = pl.exp(x)
    # error: yield a loop with `init_values` whose body does not end in `pl.yield_`
    for i, (a,) in pl.range(4, init_values=(t,)):
        b = a + 1.0
    y[:] = t


@pl.incore
def nowhere(x: pl.Tensor[[64, 64], pl.FP32], y: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
    # error: yield `pl.yield_` where nothing takes its values
    t = pl.yield_(pl.exp(x))
    y[:] = t


@pl.incore
def too_many(x: pl.Tensor[[64, 64], pl.FP32], y: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
    t = pl.exp(x)
    for i, (a,) in pl.range(4, init_values=(t,)):
        # error: yield 2 values are yielded, the loop carries 1
        b, c = pl.yield_(a + 1.0, a)
    y[:] = b


@pl.incore
def nameless(x: pl.Tensor[[64, 64], pl.FP32], y: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
    t = pl.exp(x)
    for i, (a,) in pl.range(4, init_values=(t,)):
        # error: yield what this loop gives has no name
        pl.yield_(a + 1.0)
    y[:] = t
