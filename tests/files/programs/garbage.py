# A task stores rows of a tile that nobody wrote into a tensor of the program: that counts where the next task brings it into a
# result, and not where it takes the rest only.
# test: run %s --arch a5 --func whole --arg full:f32[8x64]=1 --arg zeros:f32[8x64]
# exit: 1
# test: run %s --arch a5 --func part --arg full:f32[8x64]=1 --arg zeros:f32[8x64]
# check: kernels  clean
# check: tasks    warnings
# check: output-in-part]: no task of the program writes elements 256 to 511 of `out`, which is an output
# check-not: task-unwritten
# out[1]: f32 256*3 256*0
import pypto.language as pl


@pl.jit.incore
def half(
    x: pl.Tensor[[8, 64], pl.FP32], out: pl.Out[pl.Tensor[[8, 64], pl.FP32]]
) -> pl.Tensor[[8, 64], pl.FP32]:
    t = pl.create_tile([8, 64], pl.FP32)
    t[0:4, :] = x[0:4, :] + 1.0
    out[:] = t + 1.0
    return out


@pl.jit.incore
def copied(
    x: pl.Tensor[[8, 64], pl.FP32], out: pl.Out[pl.Tensor[[8, 64], pl.FP32]]
) -> pl.Tensor[[8, 64], pl.FP32]:
    out[:] = x[:]
    return out


@pl.jit.incore
def rows(
    x: pl.Tensor[[8, 64], pl.FP32], out: pl.InOut[pl.Tensor[[8, 64], pl.FP32]]
) -> pl.Tensor[[8, 64], pl.FP32]:
    t = pl.load(x, [0, 0], [8, 64])
    out[0:4, :] = t[0:4, :]
    return out


@pl.function(type=pl.FunctionType.Orchestration)
def whole(x: pl.Tensor[[8, 64], pl.FP32], out: pl.Out[pl.Tensor[[8, 64], pl.FP32]]):
    t = pl.create_tensor([8, 64], pl.FP32)
    # error: task-unwritten `half` stores uninitialised bytes into `t`, and a value computed from it reaches `out`
    t = half(x, t)
    out = copied(t, out)
    return out


@pl.function(type=pl.FunctionType.Orchestration)
def part(x: pl.Tensor[[8, 64], pl.FP32], out: pl.Out[pl.Tensor[[8, 64], pl.FP32]]):
    t = pl.create_tensor([8, 64], pl.FP32)
    t = half(x, t)
    out = rows(t, out)
    return out
