# A bias that the author loads into L1 lies there line by line, whatever else lies there in fractals.
#
# platforms: a5, a2a3
# args: iota:f16[16x32] iota:f16[32x16] iota:f32[1x16] zeros:f32[16x16] zeros:f32[1x16]
# test: run %s --verify
# check: verify clean
# out[3]: hash 19c7280c71c07096
# out[4]: hash b8df18d2c3702f35
import slipring.language as pl


@pl.incore
def f(
    a: pl.Tensor[[16, 32], pl.FP16],
    b: pl.Tensor[[32, 16], pl.FP16],
    bias: pl.Tensor[[1, 16], pl.FP32],
    out: pl.Out[pl.Tensor[[16, 16], pl.FP32]],
    row: pl.Out[pl.Tensor[[1, 16], pl.FP32]],
):
    left = pl.move(pl.load(a, [0, 0], [16, 32], target_memory=pl.Mem.Mat), target_memory=pl.Mem.Left)
    right = pl.load(b, [0, 0], [32, 16], target_memory=pl.Mem.Mat)
    own = pl.load(bias, [0, 0], [1, 16], target_memory=pl.Mem.Mat)
    out = pl.store(pl.matmul_bias(left, right, pl.move(own, target_memory=pl.Mem.Bias)), [0, 0], out)
    first = pl.load(a, [0, 0], [1, 32], target_memory=pl.Mem.Mat)
    row = pl.store(pl.gemv_bias(first, right, own), [0, 0], row)
