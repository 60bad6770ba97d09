# slipring check FILE
import slipring.language as pl
@pl.jit
def f(
    a: pl.Tensor[[16, 32], pl.BF16],
    b: pl.Tensor[[32, 32], pl.BF16],
    x: pl.Tensor[[16, 32], pl.FP32],
    y: pl.InOut[pl.Tensor[[16, 32], pl.FP32]],
    z: pl.Out[pl.Tensor[[16, 32], pl.FP32]],
):
    with pl.at(level=pl.Level.CORE_GROUP, optimizations=[pl.split(pl.SplitMode.UP_DOWN)]):
        y[:] = pl.exp(pl.matmul(pl.slice(a, [16, 32], [0, 0], valid_shape=[13, 32]), b))
        z[:] = pl.abs(x)
