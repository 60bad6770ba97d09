# The name of a tensor that is read and written is bound to a tile: nothing reaches the tensor.
#
# args: rand:f32[16x64] rand:f32[16x64]
# platforms: a5, a2a3
# test: run %s
# exit: 2
import slipring.language as pl


@pl.jit
# error: output-lost `c` is a tile at the end of the kernel, and the output of that name is never written
def lost(x: pl.Tensor[[16, 64], pl.FP32], c: pl.InOut[pl.Tensor[[16, 64], pl.FP32]]):
    with pl.at(level=pl.Level.CORE_GROUP):
        c = pl.add(c, x)
    return c
