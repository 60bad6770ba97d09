# Numbers of tensors decide what tasks there are: of an argument, of what a task computed, and of what the orchestration wrote itself.
# Blocks as there are clusters, extents of `pl.dynamic`, a tail after the end of a tensor.
#
# platforms: a5, a2a3
# test: run %s --func by_lengths --verify --arg iota:i32[4] --arg iota:f32[4x3x16] --arg zeros:f32[4x3x16]
# exit: 0
# check: for these inputs and this number of clusters: the set of tasks depends on numbers that the orchestration asks for
# check: verify clean
# check: read lengths
# check: add_one (request = 3, block = 2)
# out[2]: f32 48*0 49 50 51 52 53 54 55 56 57 58 59 60 61 62 63 64 32*0 97 98 99 …
# test: run %s --func by_result --verify --arg full:i32[1x16]=3 --arg full:f32[16x16]=1 --arg zeros:f32[16x16]
# exit: 0
# check: verify clean
# out[2]: f32 256*16
# test: graph %s --func by_result --arg full:i32[1x16]=3 --arg full:f32[16x16]=1 --arg zeros:f32[16x16]
# exit: 0
# check: #2 read counts
# check: after #1 write counts: it is submitted when that has finished
# test: graph %s --func by_result --max-steps 1 --arg full:i32[1x16]=3 --arg full:f32[16x16]=1 --arg zeros:f32[16x16]
# exit: 1
# check: error[not-followed]: the program is followed up to here: what `counts` holds is not known
# check: `doubled` did not complete: the program was stopped after 1 steps
# test: run %s --func whole_device --clusters 5 --verify --arg iota:f32[40x16] --arg zeros:f32[40x16]
# exit: 0
# check: verify clean
# out[1]: f32 0 2 4 6 8 …
import pypto.language as pl

B = pl.dynamic("B")


@pl.program
class Lengths:
    @pl.function(type=pl.FunctionType.InCore)
    def add_one(
        self, x: pl.Tensor[[1, 16], pl.FP32], out: pl.Out[pl.Tensor[[1, 16], pl.FP32]]
    ) -> pl.Tensor[[1, 16], pl.FP32]:
        out = pl.store(pl.add(pl.load(x, [0, 0], [1, 16]), 1.0), [0, 0], out)
        return out

    @pl.function(type=pl.FunctionType.Orchestration)
    def by_lengths(
        self,
        lengths: pl.Tensor[[B], pl.INT32],
        x: pl.Tensor[[B, 3, 16], pl.FP32],
        out: pl.Out[pl.Tensor[[B, 3, 16], pl.FP32]],
    ) -> pl.Tensor[[B, 3, 16], pl.FP32]:
        for request in pl.range(B):
            length = pl.tensor.read(lengths, [request])
            for block in pl.range(length):
                self.add_one(x[request, block : block + 1, :], out[request, block : block + 1, :])
        return out

    @pl.function(type=pl.FunctionType.InCore)
    def doubled(
        self, n: pl.Tensor[[1, 16], pl.INT32], out: pl.Out[pl.Tensor[[1, 16], pl.INT32]]
    ) -> pl.Tensor[[1, 16], pl.INT32]:
        out = pl.store(pl.add(pl.load(n, [0, 0], [1, 16]), 1), [0, 0], out)
        return out

    @pl.function(type=pl.FunctionType.InCore)
    def twice(
        self, x: pl.Tensor[[16, 16], pl.FP32], out: pl.Out[pl.Tensor[[16, 16], pl.FP32]]
    ) -> pl.Tensor[[16, 16], pl.FP32]:
        out = pl.store(pl.mul(pl.load(x, [0, 0], [16, 16]), 2.0), [0, 0], out)
        return out

    @pl.function(type=pl.FunctionType.Orchestration)
    def by_result(
        self,
        n: pl.Tensor[[1, 16], pl.INT32],
        x: pl.Tensor[[16, 16], pl.FP32],
        out: pl.Out[pl.Tensor[[16, 16], pl.FP32]],
    ) -> pl.Tensor[[16, 16], pl.FP32]:
        counts = pl.create_tensor([1, 16], dtype=pl.INT32)
        counts = self.doubled(n, counts)
        pl.tensor.write(counts, [0, 1], 7)
        rounds = pl.cast(counts[0, 0], pl.INDEX)
        if pl.read(counts, [0, 1]) == 7:
            for _ in pl.range(rounds):
                x = self.twice(x, pl.create_tensor([16, 16], dtype=pl.FP32))
        out = pl.assemble(out, x, [0, 0])
        return out


@pl.jit
def whole_device(x: pl.Tensor[[40, 16], pl.FP32], out: pl.Out[pl.Tensor[[40, 16], pl.FP32]]):
    for block in pl.spmd(pl.system.available_cluster_count()):
        pl.store(pl.mul(pl.load(x, [block * 8, 0], [8, 16]), 2.0), [block * 8, 0], out)
    return out
