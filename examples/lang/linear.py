# A linear layer, fused: x @ w + bias. Written for one Vector core, divided by the compiler.
import slipring.language as pl

M, K, N = 128, 256, 128


@pl.jit
def linear(
    x: pl.Tensor[[M, K], pl.FP16],
    w: pl.Tensor[[K, N], pl.FP16],
    bias: pl.Tensor[[1, N], pl.FP32],
    y: pl.Out[pl.Tensor[[M, N], pl.FP32]],
):
    with pl.at(level=pl.Level.CORE_GROUP, optimizations=[pl.split(pl.SplitMode.UP_DOWN)]):
        y[:] = pl.col_expand_add(pl.matmul(x, w), bias)
