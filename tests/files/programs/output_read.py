# An output of the program is read before any task has written it: by way of a tensor of the program it comes into another one.
# What a mask takes from such bytes is told where it does.
# test: run %s --arch a5 --arg x=full:f32[8x64]=1
# exit: 1
import pypto.language as pl


@pl.jit.incore
def add(x: pl.Tensor[[8, 64], pl.FP32], y: pl.Tensor[[8, 64], pl.FP32], out: pl.Out[pl.Tensor[[8, 64], pl.FP32]]):
    out[:] = x + y
    return out


@pl.function(type=pl.FunctionType.Orchestration)
def main(x: pl.Tensor[[8, 64], pl.FP32], a: pl.Out[pl.Tensor[[8, 64], pl.FP32]], b: pl.Out[pl.Tensor[[8, 64], pl.FP32]]):
    t = pl.create_tensor([8, 64], pl.FP32)
    # error: task-unwritten `add` reads `a`, which was never written, and a value computed from it reaches `b`
    t = add(x, a, t)
    b = add(t, x, b)
    a = add(x, x, a)
    return a, b
