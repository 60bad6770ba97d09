# What authors bring along from numpy, torch and Python, and what they are told to write.
#
# test: check %s
# check: help: it is `pl.row_sum(x)` of each row, `pl.col_sum(x)` of each column
# check: help: it is `pl.row_sum(x) * (1.0 / N)`
# check: help: write `pl.FP32`
# check: help: write `pl.BF16`
# check: help: write `pl.Mem.Mat`
# check: help: `for item in items:` goes through a list of constants
# check: help: write `for … in zip(…):`
# exit: 2
import slipring.language as pl


@pl.incore
def sums(x: pl.Tensor[[64, 64], pl.FP32], y: pl.Out[pl.Tensor[[64, 1], pl.FP32]]):
    # error: unknown-op there is no `pl.sum`
    y[:] = pl.sum(x)


@pl.incore
def means(x: pl.Tensor[[64, 64], pl.FP32], y: pl.Out[pl.Tensor[[64, 1], pl.FP32]]):
    # error: attribute a tensor [64, 64] FP32 has no member `mean`
    y[:] = x.mean(1)


@pl.incore
def types(x: pl.Tensor[[64, 64], pl.FP32], y: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
    # error: argument `dtype` of `pl.full` is a type such as `pl.FP32`, not `pl.FLOAT32`
    y[:] = pl.full([64, 64], pl.FLOAT32, 0.0)


@pl.incore
def words(x: pl.Tensor[[64, 64], pl.FP32], y: pl.Out[pl.Tensor[[64, 64], pl.BF16]]):
    # error: argument `target_type` of `pl.cast` is a type such as `pl.FP32`, not the string "bfloat16"
    y[:] = pl.cast(x, "bfloat16")


@pl.incore
def memories(x: pl.Tensor[[64, 64], pl.FP16], y: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
    # error: argument `target_memory` of `pl.load` is a memory, not the string "Mat"
    a = pl.load(x, [0, 0], [64, 64], target_memory="Mat")
    y[:] = pl.matmul(a, a)


@pl.incore
def lists(x: pl.Tensor[[64, 64], pl.FP32], y: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
    # error: undefined-name `map` is not defined
    rows = map(int, [0, 32])
    y[:] = x


@pl.incore
def pairs(x: pl.Tensor[[64, 64], pl.FP32], y: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
    # error: loop `zip` is only allowed in the head of a loop
    rows = zip([0, 32], [32, 64])
    y[:] = x
