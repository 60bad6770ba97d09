# slipring check FILE
import pypto.language as pl
@pl.function(type=pl.FunctionType.InCore)
def plus(a: pl.Tensor[[16, 64], pl.FP32], out: pl.Out[pl.Tensor[[16, 64], pl.FP32]]) -> pl.Tensor[[16, 64], pl.FP32]:
    return pl.store(pl.add(pl.load(a, [0, 0], [16, 64]), 1.0), [0, 0], out)
def two(a: pl.Tensor[[16, 64], pl.FP32], out: pl.Out[pl.Tensor[[16, 64], pl.FP32]], by: pl.Scalar[pl.INT32] = 3):
    def main(self, a: pl.Tensor[[16, 64], pl.FP32], o: pl.Out[pl.Tensor[[16, 64], pl.FP32]]):
        o = other(a, o)
    @pl.function(type=pl.FunctionType.Orchestration)
    def main(self, a: pl.Tensor[[16, 64], pl.FP32], o: pl.Out[pl.Tensor[[16, 64], pl.FP32]]):
        a.add_(o)
        pl.static_assert(a.shape[0] == 32, "two blocks")
