# Jumps in kernels that a program starts, in the scopes of one, and of the program itself; levels of the host as scopes.
#
# platforms: a5, a2a3
# test: run %s --func host --verify --arg iota:f32[2x64] --arg zeros:f32[2x64]
# check: 3 tasks with 0 edges
# check: verify clean
# out[1]: f32 64*1 64*7
# test: run %s --func scopes --verify --arg zeros:f32[4x64]
# check: 3 tasks with 2 edges
# check: verify clean
# out[0]: f32 64*2 64*2 64*3 64*0
import pypto.language as pl


@pl.program
class Early:
    @pl.function(type=pl.FunctionType.InCore)
    def one(self, y: pl.InOut[pl.Tensor[[1, 64], pl.FP32]], n: pl.Scalar[pl.INT32]):
        if n == 1:
            return pl.store(pl.full([1, 64], pl.FP32, 7.0), [0, 0], y)
        if n == 3:
            return y
        return pl.store(pl.full([1, 64], pl.FP32, 1.0), [0, 0], y)

    @pl.function(level=pl.Level.HOST, role=pl.Role.Orchestrator)
    def host(self, x: pl.Tensor[[2, 64], pl.FP32], y: pl.InOut[pl.Tensor[[2, 64], pl.FP32]]):
        z = pl.create_tensor([1, 64], dtype=pl.FP32)
        for n in pl.range(8):
            if n == 2:
                break
            with pl.at(level=pl.Level.CHIP, role=pl.Role.Orchestrator):
                self.one(y[n : n + 1, :], n)
        with pl.at(level=pl.Level.CHIP, role=pl.Role.Orchestrator):
            with pl.at(level=pl.Level.CORE_GROUP):
                z[:, :] = x[0:1, :]
        return y


@pl.jit
def scopes(y: pl.Out[pl.Tensor[[4, 64], pl.FP32]]):
    for n in pl.range(4):
        if n == 3:
            break
        with pl.at(level=pl.Level.CORE_GROUP):
            count = 0
            for i in pl.range(8):
                if i == n + 1:
                    continue
                if i > 2:
                    break
                count = count + 1
            y[n : n + 1, :] = pl.full([1, 64], pl.FP32, pl.cast(count, pl.FP32))
    return y
