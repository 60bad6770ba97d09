# What is assumed is assumed of kernels: a whole program takes no such option, whichever command is given it.
#
# test: check %s --assume n>0
# exit: 2
# check: `--assume` is for a kernel, and this is a whole program: its tasks pass what they are given
# test: run %s --assume n>0
# exit: 2
# check: `--assume` is for a kernel, and this is a whole program: its tasks pass what they are given

import slipring.language as pl

N = 4


@pl.program
class Shift:
    @pl.function(type=pl.FunctionType.InCore)
    def shift(
        self,
        x: pl.Tensor[[N * 16, 8], pl.FP32],
        between: pl.InOut[pl.Tensor[[N * 16, 8], pl.FP32]],
        out: pl.Out[pl.Tensor[[N * 16, 8], pl.FP32]],
    ) -> pl.Tensor[[N * 16, 8], pl.FP32]:
        i = pl.tile.get_block_idx()
        t = pl.load(x, [i * 16, 0], [16, 8])
        between = pl.store(pl.mul(t, 2.0), [i * 16, 0], between)
        pl.system.syncall(core_type="aiv_only")
        n = pl.load(between, [(i + 1) % N * 16, 0], [16, 8])
        out = pl.store(pl.add(n, t), [i * 16, 0], out)
        return out

    @pl.function(type=pl.FunctionType.Orchestration)
    def main(
        self,
        x: pl.Tensor[[N * 16, 8], pl.FP32],
        out: pl.Out[pl.Tensor[[N * 16, 8], pl.FP32]],
    ) -> pl.Tensor[[N * 16, 8], pl.FP32]:
        between = pl.create_tensor([N * 16, 8], dtype=pl.FP32)
        with pl.spmd(N, sync_start=True):
            out = self.shift(x, between, out)
        return out
