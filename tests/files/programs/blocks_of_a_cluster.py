# A kernel for the Cube core and one for the Vector cores, started together on several clusters; a condition in the fourth place of a
# product that is added to.
#
# platforms: a5, a2a3
# test: run %s --func main --verify --arg full:f16[32x64]=1 --arg full:f16[64x16]=1 --arg iota:f32[32x16] --arg zeros:f32[32x16] --arg zeros:f32[32x16]
# check: 1 task with 0 edges on
# check: tasks clean
# check: verify clean
# out[3]: f32 512*64
# out[4]: f32 0 2 4 6 8 10 …
import pypto.language as pl


@pl.program
class Both:
    @pl.function(type=pl.FunctionType.AIC)
    def cube(
        self,
        a: pl.Tensor[[32, 64], pl.FP16],
        b: pl.Tensor[[64, 16], pl.FP16],
        y: pl.Out[pl.Tensor[[32, 16], pl.FP32]],
    ):
        block = pl.tile.get_block_idx()
        acc = pl.create_tile([16, 16], dtype=pl.FP32, target_memory=pl.Mem.Acc)
        for k in pl.range(4):
            left = pl.load(a, [block * 16, k * 16], [16, 16], target_memory=pl.Mem.Mat)
            right = pl.load(b, [k * 16, 0], [16, 16], target_memory=pl.Mem.Mat)
            acc = pl.tile.matmul_acc(acc, left, right, k == 0)
        y = pl.store(acc, [block * 16, 0], y)
        return y

    @pl.function(type=pl.FunctionType.AIV)
    def vector(self, x: pl.Tensor[[32, 16], pl.FP32], z: pl.Out[pl.Tensor[[32, 16], pl.FP32]]):
        block = pl.tile.get_block_idx()
        tile = pl.load(x, [block * 16, 0], [16, 16])
        z = pl.store(pl.add(tile, tile), [block * 16, 0], z)
        return z

    @pl.function(type=pl.FunctionType.Orchestration)
    def main(
        self,
        a: pl.Tensor[[32, 64], pl.FP16],
        b: pl.Tensor[[64, 16], pl.FP16],
        x: pl.Tensor[[32, 16], pl.FP32],
        y: pl.Out[pl.Tensor[[32, 16], pl.FP32]],
        z: pl.Out[pl.Tensor[[32, 16], pl.FP32]],
    ):
        with pl.cluster():
            with pl.spmd(2):
                y = self.cube(a, b, y)
                z = self.vector(x, z)
        return y, z
