# test: run %s --func A.kernel --arg full:f32[2x16]=1.5 --arg zeros:f32[2x16]
# out[1]: f32 32*2.5
# test: run %s --func B.kernel --arg full:f32[2x16]=1.5 --arg zeros:f32[2x16]
# out[1]: f32 32*6.0
# test: run %s --func B.twice --arg full:f32[2x16]=1.5 --arg zeros:f32[2x16]
# exit: 2 with no-kernel
# check: there is no function `B.twice`
# test: check %s
# check: ok, 2 functions
import pypto.language as pl


@pl.program
class A:
    """Methods of a program do not see those of another."""

    STEP = 1.0

    @pl.function(type=pl.FunctionType.Inline)
    def more(self, x: pl.Tile[[2, 16], pl.FP32]):
        return x + self.STEP

    @pl.function(type=pl.FunctionType.InCore)
    def kernel(self, x: pl.Tensor[[2, 16], pl.FP32], y: pl.Out[pl.Tensor[[2, 16], pl.FP32]]):
        y[:] = self.more(pl.load(x, [0, 0], [2, 16]))


@pl.program
class B:
    @pl.function(type=pl.FunctionType.InCore)
    def kernel(self, x: pl.Tensor[[2, 16], pl.FP32], y: pl.Out[pl.Tensor[[2, 16], pl.FP32]]):
        t = pl.load(x, [0, 0], [2, 16])
        y[:] = self.twice(self.more(t))

    @pl.function(type=pl.FunctionType.Inline)
    def more(self, x: pl.Tile[[2, 16], pl.FP32]):
        return x * 2.0

    @pl.function
    def twice(self, x: pl.Tile[[2, 16], pl.FP32]):
        return x + x
