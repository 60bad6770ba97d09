# slipring run FILE --device p150 --max-steps 20
# args: rand:f32[32x64] 4:i32 zeros:f32[32x64]
import slipring.language as pl
@pl.incore
def racy(x: pl.Tensor[[32, 64], pl.FP32], n: pl.Scalar[pl.INT32], out: pl.Out[pl.Tensor[[32, 64], pl.FP32]]):
    t = pl.create_tensor([32, 64], dtype=pl.FP32)
    for i in pl.range(n):
        t[i : i + 1, :] = x[i : i + 1, :]
    out[:, :] = t[:, :] * 2.0
