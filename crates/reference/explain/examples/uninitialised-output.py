# slipring run FILE
# args: full:f32[16x64]=1.5 4:i32 zeros:f32[16x64] zeros:f32[16x64]
import slipring.language as pl
@pl.incore
def dropped(
    x: pl.Tensor[[16, 64], pl.FP32],
    n: pl.Scalar[pl.INT32],
    out: pl.Out[pl.Tensor[[16, 64], pl.FP32]],
    copied: pl.Out[pl.Tensor[[16, 64], pl.FP32]],
):
    own = pl.create_tensor([16, 64], dtype=pl.FP32)
    for i in pl.range(n):
        own[i : i + 1, :] = x[i : i + 1, :]
    part = pl.load(own, [0, 0], [16, 64])
    t = pl.load(x, [0, 0], [16, 64])
    pl.store(t, [0, 0], out)
    pl.store(part, [0, 0], copied)
