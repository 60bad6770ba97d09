# What a task waits for is written out.
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
            ids = pl.array.create(2, pl.TASK_ID)
            y, ids[0] = pl.submit(self.plus, x, y)
            kept = [ids[k] for k in range(1)]
            # error: deps `deps=` is a list that is written out
            y, _ = pl.submit(self.plus, x, y, deps=kept)
        return y
