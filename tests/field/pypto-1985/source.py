# args: iota:f32[8x16] zeros:f32[8x16]
import slipring.language as pl


@pl.incore
def f(x: pl.Tensor[[8, 16], pl.FP32], y: pl.InOut[pl.Tensor[[8, 16], pl.FP32]]):
    a = pl.load(x, [0, 0], [1, 16])
    for i in pl.range(4):
        if i == 2:
            t = a + 1.0
        else:
            t = a
        y[i : i + 1, :] = t
