# A tensor that a kernel makes and gives back arrives: one that holds nothing at first, and one that is filled.
# test: run %s --arch a5 --arg full:f32[8x64]=1 --arg zeros:f32[8x64]
# check: 3 tasks with 2 edges
# out[1]: f32 512*13
import pypto.language as pl


@pl.jit.incore
def first(x: pl.Tensor[[8, 64], pl.FP32]) -> pl.Tensor[[8, 64], pl.FP32]:
    y = pl.create_tensor([8, 64], pl.FP32)
    y[:] = x + 1.0
    return y


@pl.jit.incore
def second(x: pl.Tensor[[8, 64], pl.FP32]) -> pl.Tensor[[8, 64], pl.FP32]:
    y = pl.create_tensor([8, 64], pl.FP32, init_value=5.0)
    y[0:4, :] = x[0:4, :] + 4.0
    y[4:8, :] = y[4:8, :] + 0.0
    return y


@pl.jit.incore
def third(
    x: pl.Tensor[[8, 64], pl.FP32], y: pl.Tensor[[8, 64], pl.FP32], out: pl.Out[pl.Tensor[[8, 64], pl.FP32]]
) -> pl.Tensor[[8, 64], pl.FP32]:
    out[:] = x * 4.0 + y
    return out


@pl.function(type=pl.FunctionType.Orchestration)
def main(x: pl.Tensor[[8, 64], pl.FP32], out: pl.Out[pl.Tensor[[8, 64], pl.FP32]]):
    out = third(first(x), second(x), out)
    return out
