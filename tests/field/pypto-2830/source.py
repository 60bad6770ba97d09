# args: iota:f32[8x16] 1:i32 zeros:f32[8x16]
import slipring.language as pl


@pl.incore
def f(x: pl.Tensor[[8, 16], pl.FP32], n: pl.Scalar[pl.INT32], y: pl.Out[pl.Tensor[[8, 16], pl.FP32]]):
    t = pl.load(x, [0, 0], [8, 16])
    if n > 0:
        t = t * 2.0
    y[:] = t
