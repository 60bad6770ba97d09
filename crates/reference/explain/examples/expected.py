# slipring run FILE --expect y=iota:f32[4x8],rtol=0.5
import slipring.language as pl
@pl.incore
def f(x: pl.Tensor[[4, 8], pl.FP32], y: pl.Out[pl.Tensor[[4, 8], pl.FP32]]):
    y[:] = pl.mul(x, 2.0)
