# test: run %s --func first.A.kernel --arg full:f32[4x16]=1.0 --arg zeros:f32[4x16]
# out[1]: f32 64*3.5
# test: run %s --func second.A.kernel --arg full:f32[8x16]=1.0 --arg zeros:f32[8x16]
# out[1]: f32 128*8.0
# test: run %s --func third --set rows=2 --set factor=0.5 --arg full:f32[2x16]=1.0 --arg zeros:f32[2x16]
# out[1]: f32 32*0.5
# test: check %s
# exit: 2
import pypto.language as pl


def first(rows, cols=16, *, step=2.5):
    @pl.program
    class A:
        @pl.function(type=pl.FunctionType.InCore)
        def kernel(self, x: pl.Tensor[[rows, cols], pl.FP32], y: pl.Out[pl.Tensor[[rows, cols], pl.FP32]]):
            y[:] = x + step

    return A


def second(rows=8, cols=16):
    double = rows * 2

    @pl.program
    class A:
        @pl.function(type=pl.FunctionType.InCore)
        def kernel(self, x: pl.Tensor[[rows, cols], pl.FP32], y: pl.Out[pl.Tensor[[rows, cols], pl.FP32]]):
            y[:] = x * (double // 2)

    return A


def build_third(rows, factor=1.0):
    @pl.jit
    def third(
        # error: not-constant `rows` is not known when the kernel is compiled: it comes from `rows`, a parameter of `build_third`, which nothing calls: give it `--set rows=…`
        x: pl.Tensor[[rows, 16], pl.FP32],
        # error: not-constant `rows` is not known
        y: pl.Out[pl.Tensor[[rows, 16], pl.FP32]],
    ):
        y[:] = x * factor

    return third


program = first(4)
