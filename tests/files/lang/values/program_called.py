# A program that the file compiles and calls itself: what `@pl.program` makes of the class is not a plain class, so its members and
# calls are the language's, and what the file does with them is not followed.
#
# test: check %s
# exit: 0
import pypto.language as pl
from pypto import ir


@pl.program
class P:
    @pl.function(type=pl.FunctionType.InCore)
    def k(self, x: pl.Tensor[[8, 8], pl.FP32], y: pl.Out[pl.Tensor[[8, 8], pl.FP32]]) -> pl.Tensor[[8, 8], pl.FP32]:
        y = pl.store(pl.add(pl.load(x, [0, 0], [8, 8]), 1.0), [0, 0], y)
        return y

    @pl.function(type=pl.FunctionType.Orchestration)
    def main(self, x: pl.Tensor[[8, 8], pl.FP32], y: pl.Out[pl.Tensor[[8, 8], pl.FP32]]) -> pl.Tensor[[8, 8], pl.FP32]:
        y = self.k(x, y)
        return y


if __name__ == "__main__":
    import numpy as np

    compiled = ir.compile(P, platform="a5sim")
    x = np.zeros((8, 8), np.float32)
    y = np.zeros_like(x)
    result = compiled(x, y)
    print(P.name, P(x, y), type(result))
