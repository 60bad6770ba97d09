# A program whose functions assign each name once.
#
# test: check %s
# exit: 2
import slipring.language as pl


@pl.incore
def plus(x: pl.Tensor[[16, 64], pl.FP32], y: pl.Out[pl.Tensor[[16, 64], pl.FP32]]):
    y[:] = x + 1.0
    return y


@pl.program(strict_ssa=True)
class Strict:
    @pl.function(type=pl.FunctionType.Orchestration)
    def main(self, a: pl.Tensor[[16, 64], pl.FP32], o: pl.Out[pl.Tensor[[16, 64], pl.FP32]]):
        # error: redefinition `o` is assigned again in a function with `strict_ssa`
        o = plus(a, o)
        return o
