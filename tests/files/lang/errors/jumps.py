# Jumps that cannot be taken apart, and loops without an end.
#
# test: check %s
# exit: 2
import slipring.language as pl


@pl.incore
def endless(x: pl.Tensor[[64, 64], pl.FP32], y: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
    # error: loop nothing ends this loop
    while True:
        y[:] = x


@pl.incore
def condition_of_a_tile(x: pl.Tensor[[64, 64], pl.FP32], y: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
    t = pl.load(x, [0, 0], [64, 64])
    # error: condition a condition is a boolean, not a tile [64, 64] FP32 in vec
    while t:
        y[:] = t


@pl.incore
def outside(x: pl.Tensor[[64, 64], pl.FP32], y: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
    y[:] = x
    # error: loop `break` or `continue` outside of a loop
    break


@pl.incore
def out_of_a_region(x: pl.Tensor[[64, 64], pl.FP32], y: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
    for lane in pl.split_aiv(2, mode=pl.SplitMode.UP_DOWN):
        # error: loop `break` and `continue` inside a `split_aiv` region
        break


@pl.incore
def parallel(x: pl.Tensor[[64, 64], pl.FP32], y: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
    for i in pl.parallel(4):
        # error: unsupported `break` and `continue` cannot be compiled here
        continue


@pl.incore
def yields(x: pl.Tensor[[64, 64], pl.FP32], y: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
    for i, (t,) in pl.range(4, init_values=(0,)):
        if i > 2:
            # error: unsupported `break` and `continue` cannot be compiled here
            break
        t2 = pl.yield_(t + 1)
    y[:] = x


@pl.incore
def no_condition(x: pl.Tensor[[64, 64], pl.FP32], y: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
    # error: loop the body of `pl.while_` begins with its condition
    for (i,) in pl.while_(init_values=(0,)):
        j = pl.yield_(i + 1)
    y[:] = x


@pl.incore
def no_values(x: pl.Tensor[[64, 64], pl.FP32], y: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
    # error: loop `pl.while_` takes `init_values` and nothing else
    for (i,) in pl.while_():
        pl.cond(i < 3)
        j = pl.yield_(i + 1)
    y[:] = x


@pl.incore
def bound_in_an_iteration(n: pl.Scalar[pl.INT32], y: pl.Out[pl.Tensor[[8], pl.INT32]]):
    for i in pl.range(n):
        last = i
    # error: undefined-name `last` is not defined
    y[0] = last
