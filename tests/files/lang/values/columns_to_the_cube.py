# A slice of columns goes to the Cube core as a tile of its own size, whatever it is a part of. Every element of the operands
# is another number, and the hashes are those of products worked out in plain loops.
#
# args: iota:f32[16x32] iota:f32[32x16] zeros:f32[16x16] zeros:f32[16x16] zeros:f32[16x16]
# platforms: a5, a2a3
# test: run %s --verify
# check: init clean
# check: verify clean
# out[2]: hash 8b7e27cf102d11ce
# out[3]: hash b5dd517be5b5ef76
# out[4]: hash 351f51505e91711b
import slipring.language as pl


@pl.incore
def f(
    a: pl.Tensor[[16, 32], pl.FP32],
    b: pl.Tensor[[32, 16], pl.FP32],
    x: pl.Out[pl.Tensor[[16, 16], pl.FP32]],
    y: pl.Out[pl.Tensor[[16, 16], pl.FP32]],
    z: pl.Out[pl.Tensor[[16, 16], pl.FP32]],
):
    y[:] = pl.matmul(a * 2.0, b)
    y[:] = pl.matmul(a * 3.0, b)
    t = a + 1.0
    x[:] = pl.matmul(t[:, 0:16], b[0:16, :])
    z[:] = pl.matmul(t[:, 16:32], b[16:32, :])
