# Python does not look at annotations of names in functions; in an orchestration each must name a type, as in a kernel.
#
# test: check %s
# exit: 2
import slipring.language as pl


@pl.program
class P:
    @pl.function(type=pl.FunctionType.InCore)
    def double(self, x: pl.Tensor[[64], pl.FP32], y: pl.Out[pl.Tensor[[64], pl.FP32]]) -> pl.Tensor[[64], pl.FP32]:
        return pl.store(pl.load(x, [0], [64]) * 2.0, [0], y)

    @pl.function(type=pl.FunctionType.Orchestration)
    def one(self, x: pl.Tensor[[64], pl.FP32], y: pl.Out[pl.Tensor[[64], pl.FP32]]) -> pl.Tensor[[64], pl.FP32]:
        # error: undefined-name `plq` is not defined
        y: plq.Tensor[[64], pl.FP32] = self.double(x, y)
        return y

    @pl.function(type=pl.FunctionType.Orchestration)
    def two(self, x: pl.Tensor[[64], pl.FP32], y: pl.Out[pl.Tensor[[64], pl.FP32]]) -> pl.Tensor[[64], pl.FP32]:
        # error: annotation `pl.Tensors` is not a type
        y: pl.Tensors[[64], pl.FP32] = self.double(x, y)
        return y
