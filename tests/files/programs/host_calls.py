# Python of the host between tasks: it is called when what it is passed is there. The command line has no Python to run it: what only
# looks is left out and said to be, what writes a tensor stops the program.
#
# platforms: a5, a2a3
# test: run %s --func Looks.host --verify --arg full:f32[16x64]=2 --arg zeros:f32[16x64]
# exit: 0
# check: 3 tasks with 2 edges
# check: verify clean
# check: warning[host-call]: `looked_at` is a Python function of the host: it was not called
# check: help: `python -m slipring.pypto FILE` runs the file with it
# out[1]: f32 1024*8
# test: graph %s --func Looks.host --arg full:f32[16x64]=2 --arg zeros:f32[16x64]
# exit: 0
# check: after #0 twice: it reads what that writes
# test: run %s --func Writes.host --arg full:f32[16x64]=2 --arg zeros:f32[16x64]
# exit: 2
# check: `summed` is a Python function of the host that writes tensors: run the file with `python -m slipring.pypto`
import pypto.language as pl
import torch


@pl.program
class Looks:
    @pl.function(type=pl.FunctionType.InCore)
    def twice(self, x: pl.Tensor[[16, 64], pl.FP32], y: pl.Out[pl.Tensor[[16, 64], pl.FP32]]):
        tile = pl.load(x, [0, 0], [16, 64])
        return pl.store(pl.add(tile, tile), [0, 0], y)

    @pl.function(type=pl.FunctionType.Orchestration)
    def chip(self, x: pl.Tensor[[16, 64], pl.FP32], y: pl.Out[pl.Tensor[[16, 64], pl.FP32]]):
        return self.twice(x, y)

    @pl.function(level=pl.Level.HOST, role=pl.Role.SubWorker)
    def looked_at(y: pl.Tensor[[16, 64], pl.FP32]): ...

    @pl.function(level=pl.Level.HOST, role=pl.Role.Orchestrator)
    def host(self, x: pl.Tensor[[16, 64], pl.FP32], y: pl.Out[pl.Tensor[[16, 64], pl.FP32]]):
        middle = pl.create_tensor([16, 64], dtype=pl.FP32)
        middle = self.chip(x, middle)
        self.looked_at(middle)
        return self.chip(middle, y)


@pl.program
class Writes:
    @pl.function(level=pl.Level.HOST, role=pl.Role.SubWorker)
    def summed(x: pl.Tensor[[16, 64], pl.FP32], y: pl.Out[pl.Tensor[[16, 64], pl.FP32]]):
        """Anything that Python can say stands in it."""
        y[:] = torch.stack([x[at] for at in range(16)]) @ torch.eye(64)
        return y

    @pl.function(type=pl.FunctionType.InCore)
    def once(self, x: pl.Tensor[[16, 64], pl.FP32], y: pl.Out[pl.Tensor[[16, 64], pl.FP32]]):
        return pl.store(pl.load(x, [0, 0], [16, 64]), [0, 0], y)

    @pl.function(level=pl.Level.HOST, role=pl.Role.Orchestrator)
    def host(self, x: pl.Tensor[[16, 64], pl.FP32], y: pl.Out[pl.Tensor[[16, 64], pl.FP32]]):
        middle = pl.create_tensor([16, 64], dtype=pl.FP32)
        middle = self.summed(x, middle)
        return self.once(middle, y)
