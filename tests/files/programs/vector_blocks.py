# Twice as many blocks as clusters with a barrier: a block of a kernel for one Vector core takes a Vector core, not a cluster.
# args: full:f32[768x64]=1 zeros:f32[768x64]
# test: run %s --arch a2a3
# check: #0 k 29 48
# check: clusters: 24 of 24 used
# out[1]: f32 49152*2
# test: run %s --arch a2a3 --clusters 23
# exit: 1
# check: error[deadlock]: the scalar unit of AIV0 waits for a signal in global memory forever
# check: 46 blocks are stuck
import pypto.language as pl

N = 48


@pl.program
class P:
    @pl.function(type=pl.FunctionType.InCore)
    def k(
        self, a: pl.Tensor[[N * 16, 64], pl.FP32], out: pl.Out[pl.Tensor[[N * 16, 64], pl.FP32]]
    ) -> pl.Tensor[[N * 16, 64], pl.FP32]:
        row = pl.tile.get_block_idx() * 16
        t = pl.load(a, [row, 0], [16, 64])
        pl.system.syncall(core_type="aiv_only")
        return pl.store(pl.add(t, 1.0), [row, 0], out)

    @pl.function(type=pl.FunctionType.Orchestration)
    def main(self, a: pl.Tensor[[N * 16, 64], pl.FP32], out: pl.Out[pl.Tensor[[N * 16, 64], pl.FP32]]):
        with pl.spmd(N, sync_start=True):
            out = self.k(a, out)
        return out
