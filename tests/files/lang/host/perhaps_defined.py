# What is defined on one path only is that, or nothing: where a `try` catches that it is nothing, or Python has something of that name,
# it is not known.
#
# test: run %s --func f
# args: full:f32[16x64]=0.0 zeros:f32[16x64]
# out[1]: f32 1024*4.0
# test: run %s --func bound_again
# args: full:f32[16x64]=0.0 zeros:f32[16x64]
# out[1]: f32 1024*9.0
# test: run %s --func not_known
# exit: 2
import os

import slipring.language as pl

if "FAST" in os.environ:

    def helper(n):
        return n + 1.0

    def max(*values):
        return 9.0


SURE = helper(3.0)
try:
    CAUGHT = helper(3.0)
except NameError:
    CAUGHT = 5.0
SHADOWED = max(1.0, 2.0)

if "FAST" in os.environ:
    import torch_npu as device

    def twice(n):
        return n


# What is bound on every path afterwards is certain.
def twice(n):
    return n * 2.0


try:
    REDEFINED = twice(3.0)
except NameError:
    REDEFINED = 50.0
del device
device = 2.0
try:
    REBOUND = device + 1.0
except NameError:
    REBOUND = 50.0


@pl.incore
def f(a: pl.Tensor[[16, 64], pl.FP32], out: pl.Out[pl.Tensor[[16, 64], pl.FP32]]):
    out[:, :] = a[:, :] + SURE


@pl.incore
def bound_again(a: pl.Tensor[[16, 64], pl.FP32], out: pl.Out[pl.Tensor[[16, 64], pl.FP32]]):
    out[:, :] = a[:, :] + (REDEFINED + REBOUND)


@pl.incore
def not_known(a: pl.Tensor[[16, 64], pl.FP32], out: pl.Out[pl.Tensor[[16, 64], pl.FP32]]):
    # error: not-constant `CAUGHT` is not known
    out[0:8, :] = a[0:8, :] + CAUGHT
    # error: not-constant `SHADOWED` is not known
    out[8:16, :] = a[8:16, :] + SHADOWED
