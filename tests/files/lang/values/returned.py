# A tile that a kernel returns is written to one more buffer, after its parameters.
#
# args: iota:f32[2x8] zeros:f32[2x8]
# test: run %s --verify
# check: verify clean
# out[1]: f32 0 2 4 6 8 10 12 14 16 18 20 22 24 26 28 30
import slipring.language as pl


@pl.incore
def f(x: pl.Tensor[[2, 8], pl.FP32]):
    return x + x
