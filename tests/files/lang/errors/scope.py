# Scopes that are none of a kernel's.
#
# test: check %s
# exit: 2
import slipring.language as pl


@pl.incore
def file(x: pl.Tensor[[64, 64], pl.FP32], y: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
    # error: scope a kernel's scope is `pl.at(…)`
    with x:
        y[:] = x


@pl.incore
def call(x: pl.Tensor[[64, 64], pl.FP32], y: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
    # error: scope `pl.exp` is not a scope of a kernel
    with pl.exp(x):
        y[:] = x


@pl.incore
def level(x: pl.Tensor[[64, 64], pl.FP32], y: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
    # error: scope a kernel's scope is at `pl.Level.CORE_GROUP`, not Level.HOST
    with pl.at(level=pl.Level.HOST):
        y[:] = x


@pl.incore
def optimization(x: pl.Tensor[[64, 64], pl.FP32], y: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
    # error: scope `pl.faster` is not an optimization of a kernel
    with pl.at(level=pl.Level.CORE_GROUP, optimizations=[pl.faster(2)]):
        y[:] = x


@pl.incore
def no_list(x: pl.Tensor[[64, 64], pl.FP32], y: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
    # error: scope `optimizations` is a list
    with pl.at(level=pl.Level.CORE_GROUP, optimizations=pl.split(pl.SplitMode.UP_DOWN)):
        y[:] = x


@pl.incore
def two(x: pl.Tensor[[64, 64], pl.FP32], y: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
    for block in pl.spmd(2):
        y[block * 16 : block * 16 + 16, :] = x[block * 16 : block * 16 + 16, :]
    # error: scopes a second scope in a function that runs in several blocks
    with pl.at(level=pl.Level.CORE_GROUP):
        y[32:64, :] = x[32:64, :]


@pl.incore
def divided(x: pl.Tensor[[64, 64], pl.FP32], y: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
    with pl.at(level=pl.Level.CORE_GROUP, optimizations=[pl.split(pl.SplitMode.UP_DOWN)]):
        y[0:32, :] = x[0:32, :]
    # error: scopes two scopes of a function are divided in different ways: UP_DOWN and LEFT_RIGHT
    with pl.at(level=pl.Level.CORE_GROUP, optimizations=[pl.split(pl.SplitMode.LEFT_RIGHT)]):
        y[32:64, :] = x[32:64, :]
