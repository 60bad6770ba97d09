# Kernels under other names: an alias, kernels that a function makes with constants of their own, members, lists, helpers of Python
# that start kernels, closures and functions without a name. All are the calls that Python would make.
# test: run %s --arch a5 --arg full:f32[16x64]=1 --arg zeros:f32[16x64] --arg zeros:f32[16x64] --arg zeros:f32[16x64] --arg zeros:f32[16x64] --arg zeros:f32[16x64] --arg zeros:f32[16x64] --arg zeros:f32[16x64] --arg zeros:f32[16x64]
# check: main on a5 (1 Cube + 2 Vector cores a cluster, rings in the consumer's UB or L1), 8 tasks with 0 edges on 36 clusters
# out[1]: f32 2 …
# out[2]: f32 3 …
# out[3]: f32 4 …
# out[4]: f32 11 …
# out[5]: f32 2 …
# out[6]: f32 3 …
# out[7]: f32 4 …
# out[8]: f32 2 …
import pypto.language as pl


def make(number):
    @pl.function(type=pl.FunctionType.InCore)
    def plus(a: pl.Tensor[[16, 64], pl.FP32], out: pl.Out[pl.Tensor[[16, 64], pl.FP32]]):
        out[:] = pl.load(a, [0, 0], [16, 64]) + number
        return out

    return plus


one = make(1.0)
two = make(2.0)
alias = two
kernels = [one, two, make(3.0)]
table = {"ten": make(10.0)}


def start(kernel, a, out):
    return kernel(a, out)


def start_twice(a, first, second):
    start(one, a, first)
    return start(alias, a, second)


@pl.program
class P:
    @pl.function(type=pl.FunctionType.Orchestration)
    def main(
        self,
        a: pl.Tensor[[16, 64], pl.FP32],
        o1: pl.Out[pl.Tensor[[16, 64], pl.FP32]],
        o2: pl.Out[pl.Tensor[[16, 64], pl.FP32]],
        o3: pl.Out[pl.Tensor[[16, 64], pl.FP32]],
        o4: pl.Out[pl.Tensor[[16, 64], pl.FP32]],
        o5: pl.Out[pl.Tensor[[16, 64], pl.FP32]],
        o6: pl.Out[pl.Tensor[[16, 64], pl.FP32]],
        o7: pl.Out[pl.Tensor[[16, 64], pl.FP32]],
        o8: pl.Out[pl.Tensor[[16, 64], pl.FP32]],
    ):
        o1 = one(a, o1)
        o2 = alias(a, o2)
        o3 = kernels[2](a, out=o3)
        o4 = table["ten"](a, o4)
        o6 = start_twice(a, o5, o6)
        last = lambda out: kernels[-1](a, out)
        o7 = last(o7)
        given = {"out": o8}
        o8 = one(a, **given)
        return o8
