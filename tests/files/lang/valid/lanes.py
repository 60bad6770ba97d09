# A product of 13 rows in a tile of 16: each lane takes as many of its half as are left.
#
# platforms: a5, a2a3
# args: iota:f16[13x16] iota:f16[16x16] zeros:f32[13x16]
# test: run %s --verify
# check: verify clean
# out[2]: hash ebeee84d7badedfd
import slipring.language as pl


@pl.incore
def f(
    a: pl.Tensor[[13, 16], pl.FP16],
    b: pl.Tensor[[16, 16], pl.FP16],
    out: pl.Out[pl.Tensor[[13, 16], pl.FP32]],
):
    s = pl.matmul(pl.slice(a, [16, 16], [0, 0], valid_shape=[13, 16]), b)
    for lane in pl.split_aiv(2, mode=pl.SplitMode.UP_DOWN):
        out = pl.store(pl.mul(pl.aiv_shard(s), 2.0), [lane * 8, 0], out)
