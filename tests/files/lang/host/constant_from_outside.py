# `--set` gives a constant of a kernel.
#
# platforms: a5, a2a3
# test: run %s --func doubled --set T=8 --arg iota:f32[4x64] --arg zeros:f32[4x64]
# out[1]: f32 8*2 248*0
# test: run %s --func doubled --arg iota:f32[4x64] --arg zeros:f32[4x64]
# out[1]: f32 16*2 240*0
import slipring.language as pl


@pl.jit
def doubled(x: pl.Tensor[[4, 64], pl.FP32], y: pl.InOut[pl.Tensor[[4, 64], pl.FP32]], T: pl.constexpr = 16):
    y[0:1, 0:T] = pl.full([1, T], pl.FP32, 2.0)
