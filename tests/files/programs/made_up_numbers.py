# A part of a tensor at an offset that a tensor holds: `check` has no contents, and what made-up ones would make wrong is a note.
# test: check %s --arch a5
# check: ok
# check: note[bounds]
# check: with placeholder numbers chosen by this check
# test: run %s --arch a5 --arg full:i32[1]=1016 --arg full:f32[64x64]=1 --arg zeros:f32[16x64]
# out[2]: f32 1024*2
# test: run %s --arch a5 --arg full:i32[1]=1060 --arg full:f32[64x64]=1 --arg zeros:f32[16x64]
# exit: 2
# check: error[bounds]: elements 60 to 76 lie outside the 64 of dimension 0
import pypto.language as pl


@pl.program
class P:
    @pl.function(type=pl.FunctionType.InCore)
    def k(self, a: pl.Tensor[[16, 64], pl.FP32], out: pl.Out[pl.Tensor[[16, 64], pl.FP32]]):
        out[:] = pl.load(a, [0, 0], [16, 64]) + 1.0
        return out

    @pl.function(type=pl.FunctionType.Orchestration)
    def main(
        self,
        where: pl.Tensor[[1], pl.INT32],
        a: pl.Tensor[[64, 64], pl.FP32],
        out: pl.Out[pl.Tensor[[16, 64], pl.FP32]],
    ):
        first = pl.tensor.read(where, [0])
        out = self.k(a[first - 1000 : first - 984, :], out)
        return out
