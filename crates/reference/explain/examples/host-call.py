# slipring run FILE --arg full:f32[16x64]=2 --arg zeros:f32[16x64]
import pypto.language as pl
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
class Writes:
    @pl.function(level=pl.Level.HOST, role=pl.Role.SubWorker)
    def host(self, x: pl.Tensor[[16, 64], pl.FP32], y: pl.Out[pl.Tensor[[16, 64], pl.FP32]]):
        middle = pl.create_tensor([16, 64], dtype=pl.FP32)
