# What no task of a program writes of its output is nobody's, as it is in a kernel: said, and the row of the tasks says so.
#
# args: full:f32[64x64]=3 zeros:f32[64x64]
# test: run %s --arch a5
# check: tasks    warnings
# check: warning[output-in-part]: no task of the program writes elements 2048 to 4095 of `out`, which is an output
# test: run %s --arch a2a3
# check: tasks    warnings
# test: run %s --arch a5 --strict
# exit: 1 with output-in-part
# check: tasks    findings
import slipring.language as pl


@pl.program
class Half:
    @pl.function(type=pl.FunctionType.InCore)
    def half(
        self, a: pl.Tensor[[64, 64], pl.FP32], out: pl.Out[pl.Tensor[[64, 64], pl.FP32]]
    ) -> pl.Tensor[[64, 64], pl.FP32]:
        t = pl.load(a, [0, 0], [32, 64])
        return pl.store(pl.mul(t, 2.0), [0, 0], out)

    @pl.function(type=pl.FunctionType.Orchestration)
    def main(
        self, a: pl.Tensor[[64, 64], pl.FP32], out: pl.Out[pl.Tensor[[64, 64], pl.FP32]]
    ) -> pl.Tensor[[64, 64], pl.FP32]:
        return self.half(a, out)
