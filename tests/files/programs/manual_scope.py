# A manual scope with a forgotten edge, and the same with it.
#
# args: full:f32[32x32]=2.0 zeros:f32[32x32]
# platforms: a5, a2a3
# test: run %s --set ordered=False
# exit: 1
# check: error[task-race]: `stage1` and `stage2` touch the same bytes of `scratch`, and nothing orders them
# check: a manual scope has only the declared edges
# check: bind the first task, `as first`, and give the other `deps=[first]` (`stage2` waits for `stage1`)
# test: run %s --set ordered=True --verify
# exit: 0
# check: verify clean
# out[1]: f32 1024*8.0
import pypto.language as pl

ordered = False


@pl.program
class Chain:
    @pl.function(type=pl.FunctionType.InCore)
    def stage1(self, x: pl.Tensor[[32, 32], pl.FP32], out: pl.Out[pl.Tensor[[32, 32], pl.FP32]]) -> pl.Tensor[[32, 32], pl.FP32]:
        out = pl.store(pl.add(pl.load(x, [0, 0], [32, 32]), pl.load(x, [0, 0], [32, 32])), [0, 0], out)
        return out

    @pl.function(type=pl.FunctionType.InCore)
    def stage2(self, x: pl.Tensor[[32, 32], pl.FP32], out: pl.Out[pl.Tensor[[32, 32], pl.FP32]]) -> pl.Tensor[[32, 32], pl.FP32]:
        out = pl.store(pl.mul(pl.load(x, [0, 0], [32, 32]), 2.0), [0, 0], out)
        return out

    @pl.function(type=pl.FunctionType.Orchestration)
    def main(self, x: pl.Tensor[[32, 32], pl.FP32], out: pl.Out[pl.Tensor[[32, 32], pl.FP32]]) -> pl.Tensor[[32, 32], pl.FP32]:
        scratch = pl.create_tensor([32, 32], dtype=pl.FP32)
        with pl.manual_scope():
            scratch, first = pl.submit(self.stage1, x, scratch)
            # error: task-race `stage1` and `stage2` touch the same bytes of `scratch`
            out, _ = pl.submit(self.stage2, scratch, out, deps=[first] if ordered else [])
        return out
