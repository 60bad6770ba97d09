# A program of many small tasks: STEPS chains of two, and after each chain one that waits for the chain before. Three tasks a step.
#
# args: rand:f32[16x64] zeros:f32[16x64]
import pypto.language as pl

STEPS = 1000


@pl.jit.incore
def scaled(x: pl.Tensor, out: pl.Out[pl.Tensor]):
    out[:] = pl.mul(x[:, :], 0.5)
    return out


@pl.jit.incore
def summed(x: pl.Tensor, y: pl.Tensor, out: pl.Out[pl.Tensor]):
    out[:] = pl.add(x[:, :], y[:, :])
    return out


@pl.jit
def steps(x: pl.Tensor[[16, 64], pl.FP32], out: pl.Out[pl.Tensor[[16, 64], pl.FP32]]):
    halves = pl.create_tensor([16 * STEPS, 64], dtype=pl.FP32)
    quarters = pl.create_tensor([16 * STEPS, 64], dtype=pl.FP32)
    totals = pl.create_tensor([16 * (STEPS + 1), 64], dtype=pl.FP32)
    scaled(x, totals[0:16, :])
    for i in pl.range(STEPS):
        r = 16 * i
        scaled(x, halves[r : r + 16, :])
        scaled(halves[r : r + 16, :], quarters[r : r + 16, :])
        summed(totals[r : r + 16, :], quarters[r : r + 16, :], totals[r + 16 : r + 32, :])
    scaled(totals[16 * STEPS : 16 * STEPS + 16, :], out)
    return out
