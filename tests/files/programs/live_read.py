# The same, and the first task adds to what nobody has written.
# test: run %s --arch a2a3 --arg x=full:f32[8x64]=1
# exit: 1
# check: kernels  clean
# check: tasks    findings
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
        # error: task-unwritten reads `state`, which was never written, and a value computed from it reaches `out`
        state, out = step(x, state, out, 0)
    return out
