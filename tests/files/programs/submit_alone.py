# A submit gives an id, which a statement of its own lets go.
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
            # error: submit `pl.submit` gives what the kernel returns and the id of its task: nothing takes them
            pl.submit(self.plus, x, y)
        return y
