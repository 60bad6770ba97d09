# args: iota:f32[8x16] zeros:f32[8x16]
import slipring.language as pl


@pl.incore
def f(x: pl.Tensor[[8, 16], pl.FP32], y: pl.InOut[pl.Tensor[[8, 16], pl.FP32]]):
    t = pl.load(x, [0, 0], [1, 16])
    for i in pl.pipeline(7, stage=3):
        y[i : i + 1, :] = t
        t = pl.load(x, [i + 1, 0], [1, 16])
