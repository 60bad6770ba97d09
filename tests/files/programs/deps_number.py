# A number is no id of a task.
#
# test: check %s
# exit: 2
import slipring.language as pl


@pl.program
class Program:
    @pl.function(type=pl.FunctionType.InCore)
    def plus(self, x: pl.Tensor[[16, 64], pl.FP32], y: pl.Out[pl.Tensor[[16, 64], pl.FP32]]):
        y[:] = x + 1.0
        return y

    @pl.function(type=pl.FunctionType.Orchestration)
    def main(
        self, x: pl.Tensor[[16, 64], pl.FP32], n: pl.Scalar[pl.INT32], y: pl.Out[pl.Tensor[[16, 64], pl.FP32]]
    ):
        with pl.manual_scope():
            # error: deps `deps=` takes ids of tasks, this is a number
            y, _ = pl.submit(self.plus, x, y, deps=[n])
        return y
