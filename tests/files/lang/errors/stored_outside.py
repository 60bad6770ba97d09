# What is stored outside of its tensor is described by that tensor, whatever the statement loads.
#
# platforms: a5, a2a3
# args: iota:f32[64x128] 120:i32 zeros:f32[64x128]
# test: run %s
# exit: 1 with memory-bounds
# check: error[memory-bounds]: `res[0:16, 120:136]` is outside of `res[64, 128]`; n = 120
import slipring.language as pl


@pl.incore
def k(a: pl.Tensor[[64, 128], pl.FP32], n: pl.Scalar[pl.INT32], res: pl.InOut[pl.Tensor[[64, 128], pl.FP32]]):
    res[0:16, n : n + 16] = a[0:16, 0:16]
