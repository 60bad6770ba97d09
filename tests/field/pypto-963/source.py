# args: iota:f32[16x16] full:f32[16x16]=1 zeros:f32[16x16]
import slipring.language as pl


@pl.incore
def f(a: pl.Tensor[[16, 16], pl.FP32], b: pl.Tensor[[16, 16], pl.FP32], y: pl.Out[pl.Tensor[[16, 16], pl.FP32]]):
    with pl.at(level=pl.Level.CORE_GROUP, optimizations=[pl.split(pl.SplitMode.UP_DOWN)]):
        c = pl.matmul(a, b)
        y[:] = c * 2.0 + a
