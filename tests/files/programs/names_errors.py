# What a program calls and nobody defines, what a call or a word is given and does not take: each is an error that names it.
# test: check %s --arch a5
# exit: 2
import pypto.language as pl

other = pl.FP32


@pl.function(type=pl.FunctionType.InCore)
def plus(a: pl.Tensor[[16, 64], pl.FP32], out: pl.Out[pl.Tensor[[16, 64], pl.FP32]]) -> pl.Tensor[[16, 64], pl.FP32]:
    return pl.store(pl.add(pl.load(a, [0, 0], [16, 64]), 1.0), [0, 0], out)


@pl.function(type=pl.FunctionType.InCore)
def two(a: pl.Tensor[[16, 64], pl.FP32], out: pl.Out[pl.Tensor[[16, 64], pl.FP32]], by: pl.Scalar[pl.INT32] = 3):
    out[:] = pl.load(a, [0, 0], [16, 64]) + 1.0
    return out


def helper(a, out, often=1):
    return plus(a, out)


@pl.program
class Undefined:
    @pl.function(type=pl.FunctionType.Orchestration)
    def main(self, a: pl.Tensor[[16, 64], pl.FP32], o: pl.Out[pl.Tensor[[16, 64], pl.FP32]]):
        plus(a, o)
        # error: undefined-name `pluss` is not defined
        o = pluss(a, o)
        return o


@pl.program
class Member:
    @pl.function(type=pl.FunctionType.Orchestration)
    def main(self, a: pl.Tensor[[16, 64], pl.FP32], o: pl.Out[pl.Tensor[[16, 64], pl.FP32]]):
        plus(a, o)
        # error: unknown-function `self.missing` is called, and is not known
        self.missing(a, o)
        return o


@pl.program
class NoFunction:
    @pl.function(type=pl.FunctionType.Orchestration)
    def main(self, a: pl.Tensor[[16, 64], pl.FP32], o: pl.Out[pl.Tensor[[16, 64], pl.FP32]]):
        # error: unknown-function `other` is called, and is not a function
        o = other(a, o)
        return o


@pl.program
class Deps:
    @pl.function(type=pl.FunctionType.Orchestration)
    def main(self, a: pl.Tensor[[16, 64], pl.FP32], o: pl.Out[pl.Tensor[[16, 64], pl.FP32]]):
        # error: argument `plus` has no parameter `deps`
        o = plus(a, o, deps=[])
        return o


@pl.program
class Junk:
    @pl.function(type=pl.FunctionType.Orchestration)
    def main(self, a: pl.Tensor[[16, 64], pl.FP32], o: pl.Out[pl.Tensor[[16, 64], pl.FP32]]):
        # error: argument `two` has no parameter `bye`
        o = two(a, o, bye=4)
        return o


@pl.program
class HelperJunk:
    @pl.function(type=pl.FunctionType.Orchestration)
    def main(self, a: pl.Tensor[[16, 64], pl.FP32], o: pl.Out[pl.Tensor[[16, 64], pl.FP32]]):
        # error: argument `helper` has no parameter `offten`
        o = helper(a, o, offten=2)
        return o


@pl.program
class Word:
    @pl.function(type=pl.FunctionType.Orchestration)
    def main(self, a: pl.Tensor[[16, 64], pl.FP32], o: pl.Out[pl.Tensor[[16, 64], pl.FP32]]):
        # error: argument `pl.create_tensor` has no argument `init`
        t = pl.create_tensor([16, 64], dtype=pl.FP32, init=0.0)
        plus(a, t)
        return plus(t, o)


@pl.program
class Submit:
    @pl.function(type=pl.FunctionType.Orchestration)
    def main(self, a: pl.Tensor[[16, 64], pl.FP32], o: pl.Out[pl.Tensor[[16, 64], pl.FP32]]):
        # error: argument `plus` has no parameter `blocks`
        o, first = pl.submit(plus, a, o, blocks=2)
        return o


@pl.program
class Scope:
    @pl.function(type=pl.FunctionType.Orchestration)
    def main(self, a: pl.Tensor[[16, 64], pl.FP32], o: pl.Out[pl.Tensor[[16, 64], pl.FP32]]):
        # error: argument `pl.spmd` has no argument `core_nums`
        with pl.spmd(2, core_nums=2):
            o = plus(a, o)
        return o


@pl.program
class Mode:
    @pl.function(type=pl.FunctionType.Orchestration)
    def main(self, a: pl.Tensor[[16, 64], pl.FP32], o: pl.Out[pl.Tensor[[16, 64], pl.FP32]]):
        # error: argument `pl.manual_scope` has no argument `mode`
        with pl.manual_scope(mode=1):
            o = plus(a, o)
        return o


@pl.program
class Loop:
    @pl.function(type=pl.FunctionType.Orchestration)
    def main(self, a: pl.Tensor[[16, 64], pl.FP32], o: pl.Out[pl.Tensor[[16, 64], pl.FP32]]):
        # error: loop `pl.range` has no stages: its iterations do not overlap
        for i in pl.range(2, stage=2):
            o = plus(a, o)
        return o


@pl.program
class Method:
    @pl.function(type=pl.FunctionType.Orchestration)
    def main(self, a: pl.Tensor[[16, 64], pl.FP32], o: pl.Out[pl.Tensor[[16, 64], pl.FP32]]):
        # error: misplaced-op `add_` of a tensor is outside every kernel
        a.add_(o)
        return plus(a, o)


@pl.program
class Nested:
    @pl.function(type=pl.FunctionType.Orchestration)
    def main(self, a: pl.Tensor[[16, 64], pl.FP32], o: pl.Out[pl.Tensor[[16, 64], pl.FP32]]):
        plus(a, o)

        @pl.function(type=pl.FunctionType.InCore)
        # error: unsupported `inner` is defined inside of a function that starts kernels
        def inner(a: pl.Tensor[[16, 64], pl.FP32], out: pl.Out[pl.Tensor[[16, 64], pl.FP32]]):
            out[:] = pl.load(a, [0, 0], [16, 64]) + 1.0

        inner(a, o)
        return o


@pl.program
class Unpacked:
    @pl.function(type=pl.FunctionType.Orchestration)
    def main(self, a: pl.Tensor[[16, 64], pl.FP32], o: pl.Out[pl.Tensor[[16, 64], pl.FP32]]):
        # error: unpack 2 names for one value
        o, more = plus(a, o)
        return o


@pl.program
class Matched:
    @pl.function(type=pl.FunctionType.Orchestration)
    def main(self, a: pl.Tensor[[16, 64], pl.FP32], o: pl.Out[pl.Tensor[[16, 64], pl.FP32]]):
        plus(a, o)
        # error: unsupported this kind of statement in a function that starts kernels
        match 1:
            case 1:
                plus(a, o)
        return o


@pl.program
class Unwritten:
    @pl.function(type=pl.FunctionType.Orchestration)
    # error: output-unwritten `p` is an output, and no task of the program writes it
    def main(self, a: pl.Tensor[[16, 64], pl.FP32], o: pl.Out[pl.Tensor[[16, 64], pl.FP32]], p: pl.Out[pl.Tensor[[16, 64], pl.FP32]]):
        o = plus(a, o)
        return o


@pl.program
class Held:
    @pl.function(type=pl.FunctionType.Orchestration)
    def main(self, a: pl.Tensor[[16, 64], pl.FP32], o: pl.Out[pl.Tensor[[16, 64], pl.FP32]]):
        # error: static-assert two blocks
        pl.static_assert(a.shape[0] == 32, message="two blocks")
        return plus(a, o)
