# A running state that the first task loads before anybody has written it, and does not use: no finding.
# test: run %s --arch a2a3 --arg full:f32[8x64]=1 --arg zeros:f32[8x64]
# check: tasks    clean
# check-not: task-unwritten
# out[1]: f32 512*3
import pypto.language as pl


@pl.jit.incore
def step(
    x: pl.Tensor[[8, 64], pl.FP32],
    state: pl.InOut[pl.Tensor[[8, 64], pl.FP32]],
    out: pl.Out[pl.Tensor[[8, 64], pl.FP32]],
    first: pl.Scalar[pl.INT32],
):
    old = pl.load(state, [0, 0], [8, 64])
    new = pl.load(x, [0, 0], [8, 64])
    if first == 1:
        state[:] = new
        out[:] = new
    else:
        sum = old + new
        state[:] = sum
        out[:] = sum
    return state, out


@pl.function(type=pl.FunctionType.Orchestration)
def main(x: pl.Tensor[[8, 64], pl.FP32], out: pl.Out[pl.Tensor[[8, 64], pl.FP32]]):
    state = pl.create_tensor([8, 64], pl.FP32)
    for i in range(3):
        state, out = step(x, state, out, 1 if i == 0 else 0)
    return out
