# Three tiles of 64 KiB do not fit beside each other: the result takes the place of a source that is not read again.
# args: full:f32[128x128]=1.5 full:f32[128x128]=2.0 zeros:f32[128x128]
# test: run %s --arch a2a3 --verify
# out[2]: f32 16384*12.25
# test: run %s --arch a5 --verify
# out[2]: f32 16384*12.25
import slipring.language as pl


@pl.jit
def kernel(
    a: pl.Tensor[[128, 128], pl.FP32],
    b: pl.Tensor[[128, 128], pl.FP32],
    c: pl.Out[pl.Tensor[[128, 128], pl.FP32]],
):
    x = pl.load(a, [0, 0], [128, 128])
    y = pl.load(b, [0, 0], [128, 128])
    s = x + y
    p = s * s
    pl.store(p, [0, 0], c)
