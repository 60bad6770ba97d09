# Tiles of which only a part is valid cross to the other kind of core as a whole, and as much of them counts there.
#
# platforms: a5, a2a3
# args: iota:f16[16x16] iota:f16[16x16] 9:index zeros:f32[16x16] zeros:f32[16x16]
# test: run %s --verify
# check: verify clean
# out[3]: hash 3cc8a1a624431f05
# out[4]: hash 67dc873745e18c25
import slipring.language as pl


@pl.incore
def f(
    a: pl.Tensor[[16, 16], pl.FP16],
    b: pl.Tensor[[16, 16], pl.FP16],
    n: pl.Scalar[pl.INDEX],
    there: pl.InOut[pl.Tensor[[16, 16], pl.FP32]],
    back: pl.InOut[pl.Tensor[[16, 16], pl.FP32]],
):
    product = pl.matmul(a, pl.slice(b, [16, 16], [0, 0], valid_shape=[n, 16]), b_trans=True)
    there = pl.store(product * 2.0 + 1.0, [0, 0], there)
    more = pl.load(a, [0, 0], [16, 16], valid_shape=[n, 16]) + 1.0
    back = pl.store(pl.matmul(more, b), [0, 0], back)
