# Blocks of a task, ids in an array, a join, a predicate that does not hold, a tensor without edges of its own.
#
# platforms: a5, a2a3
# test: run %s --func blocks --arg iota:f32[64x16] --arg zeros:f32[64x16] --verify
# exit: 0
# check: 1 task with 0 edges
# check: verify clean
# out[1]: f32 0 2 4 6 8 …
# test: run %s --func main --clusters 3 --order 2 --verify --arg iota:f32[64x16] --arg zeros:f32[64x16] --arg zeros:i32[1x16]
# exit: 0
# check: tasks clean
# check: stripe (phase = 1, i = 3)
# check: never skipped
# check: clusters: 3 of 3 used
# out[1]: f32 4 5 6 7 8 …
import pypto.language as pl


@pl.jit
def blocks(x: pl.Tensor[[64, 16], pl.FP32], out: pl.Out[pl.Tensor[[64, 16], pl.FP32]]):
    with pl.manual_scope():
        for i in pl.spmd(4):
            pl.store(pl.mul(pl.load(x, [i * 16, 0], [16, 16]), 2.0), [i * 16, 0], out)
    for _ in range(0):
        with pl.at(level=pl.Level.CORE_GROUP):
            pl.store(pl.load(x, [0, 0], [16, 16]), [0, 0], out)
    return out


@pl.program
class Steps:
    @pl.function(type=pl.FunctionType.InCore)
    def stripe(self, x: pl.Tensor[[64, 16], pl.FP32], row: pl.Scalar[pl.INDEX], more: pl.Scalar[pl.FP32], out: pl.Out[pl.Tensor[[64, 16], pl.FP32]]) -> pl.Tensor[[64, 16], pl.FP32]:
        out = pl.store(pl.add(pl.load(x, [row, 0], [16, 16]), more), [row, 0], out)
        return out

    @pl.function(type=pl.FunctionType.InCore)
    def never(self, out: pl.InOut[pl.Tensor[[64, 16], pl.FP32]]) -> pl.Tensor[[64, 16], pl.FP32]:
        out = pl.store(pl.full([16, 16], pl.FP32, 99.0), [0, 0], out)
        return out

    @pl.function(type=pl.FunctionType.Orchestration)
    def main(
        self,
        x: pl.Tensor[[64, 16], pl.FP32],
        out: pl.Out[pl.Tensor[[64, 16], pl.FP32]],
        gate: pl.Tensor[[1, 16], pl.INT32],
    ) -> pl.Tensor[[64, 16], pl.FP32]:
        middle = pl.create_tensor([64, 16], dtype=pl.FP32, manual_dep=True)
        ids = pl.array.create(4, pl.TASK_ID)
        for phase, (before,) in pl.range(2, init_values=(ids,)):
            now = pl.array.create(4, pl.TASK_ID)
            for i in pl.parallel(4):
                if phase == 0:
                    middle, tid = pl.submit(self.stripe, x, i * 16, 1.0, middle)
                else:
                    out, tid = pl.submit(self.stripe, middle, i * 16, 3.0, out, deps=[before])
                now[i] = tid
            ids = pl.yield_(now)
        joined = pl.system.task_dummy(deps=[ids])
        out, _ = pl.submit(self.never, out, deps=[joined], predicate=(gate[0, 3] > 0))
        return out
