# The output ends within the last slice, and the tile does not: numpy refuses that, here the rest is dropped with a warning.
#
# args: iota:f32[32x64] zeros:f32[24x64]
# platforms: a5, a2a3
# test: run %s
# check: warning[bounds]: in some iteration this slice passes the end of `y`, and the tile has elements there: they are dropped
# out[1]: f32 0.0 2.0 4.0 6.0 …
import slipring.language as pl


@pl.jit
def cut(x: pl.Tensor[[32, 64], pl.FP32], y: pl.Out[pl.Tensor[[24, 64], pl.FP32]]):
    with pl.at(level=pl.Level.CORE_GROUP):
        for i in pl.range(0, 32, 16):
            y[i : i + 16, :] = x[i : i + 16, :] * 2.0
