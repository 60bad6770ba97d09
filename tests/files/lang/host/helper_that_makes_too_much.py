# A helper of a program that makes too much ends with the bound that it meets, at its place.
# test: run %s --arch a5
# exit: 2
# check: error[host-steps]: the file's own code makes lists, dicts and strings of more than 1000000 values
# check-not: raises
import slipring.language as pl

LONG = tuple(range(100000))
def f(*xs):
    return 1
@pl.program
class P:
    @pl.function(type=pl.FunctionType.InCore)
    def k(self, a: pl.Tensor[[64, 64], pl.FP32], out: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
        out[:, :] = a[:, :] * 2.0
        return out
    @pl.function(type=pl.FunctionType.Orchestration)
    def main(self, a: pl.Tensor[[64, 64], pl.FP32], out: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
        for i in range(1000):
            f(*LONG)
            out = self.k(a, out)
        return out
