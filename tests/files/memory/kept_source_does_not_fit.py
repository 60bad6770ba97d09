# 128 KiB and 128 KiB do not fit beside each other on A2/A3, where a reciprocal may not take the place of its source. On
# A5 it may.
# args: full:f32[64x512]=4.0 zeros:f32[64x512]
# test: run %s --arch a5 --verify
# out[1]: f32 32768*0.25
# test: run %s --arch a2a3
# exit: 2
# check: error[memory-full]: `vec` is too small: 262144 bytes are in use at the same time, it has 196608
import slipring.language as pl


@pl.jit
def kernel(a: pl.Tensor[[64, 512], pl.FP32], c: pl.Out[pl.Tensor[[64, 512], pl.FP32]]):
    x = pl.load(a, [0, 0], [64, 512])
    y = pl.recip(x)
    pl.store(y, [0, 0], c)
