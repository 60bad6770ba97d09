# A kernel is a function with one of these decorators; a file may have several, of which `--func` takes one.
#
# args: iota:f32[1x8] zeros:f32[1x8]
# test: run %s --func one
# out[1]: f32 1 2 3 4 5 6 7 8
# test: run %s --func two
# out[1]: f32 2 3 4 5 6 7 8 9
# test: run %s --func three
# out[1]: f32 3 4 5 6 7 8 9 10
# test: run %s --func four
# out[1]: f32 4 5 6 7 8 9 10 11
# test: run %s --func five
# out[1]: f32 5 6 7 8 9 10 11 12
# test: run %s --func six
# exit: 2 with no-kernel
# check: six
# test: run %s
# exit: 2 with which-kernel
# check: --func
import os

import pypto.language as pl
from slipring.language import FP32, Out, Tensor


@pl.incore
def one(a: pl.Tensor[[1, 8], pl.FP32], b: pl.Out[pl.Tensor[[1, 8], pl.FP32]]):
    """Adds one."""
    b[:] = a + 1


@pl.jit
def two(a: Tensor[[1, 8], FP32], b: Out[Tensor[[1, 8], FP32]]):
    b[:] = a + 2
    return b


@pl.function(type=pl.FunctionType.InCore)
def three(a: pl.Tensor[[1, 8], pl.FP32], b: pl.Out[pl.Tensor[[1, 8], pl.FP32]]):
    b[:] = a + 3


@pl.function(type=pl.FunctionType.AIV)
def four(a: pl.Tensor[[1, 8], pl.FP32], b: pl.Out[pl.Tensor[[1, 8], pl.FP32]]):
    b[:] = a + 4


@pl.program
class Five:
    @pl.function
    def five(self, a: pl.Tensor[[1, 8], pl.FP32], b: pl.Out[pl.Tensor[[1, 8], pl.FP32]]):
        with pl.at(level=pl.Level.CORE_GROUP, name_hint="added"):
            b[:] = a + 5


def host(path):
    # What is not a kernel is not looked at.
    return [os.path.join(path, name) for name in sorted(os.listdir(path))]


if __name__ == "__main__":
    print(host("."))
