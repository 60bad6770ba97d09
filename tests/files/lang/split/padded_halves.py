# Halves whose lines are padded: each lane has half of what is valid. Every column is another number, and the hash is that
# of the product worked out in plain loops; halves are rounded away from zero to bf16.
#
# args: iota:bf16[16x2] iota:bf16[2x48] iota:bf16[48x2] zeros:f32[16x2]
# platforms: a5, a2a3
# test: run %s --verify
# check: verify clean
# out[3]: hash dca1deeb69f4b1d6
import slipring.language as pl


@pl.incore
def f(
    a: pl.Tensor[[16, 2], pl.BF16],
    b: pl.Tensor[[2, 48], pl.BF16],
    v: pl.Tensor[[48, 2], pl.BF16],
    out: pl.Out[pl.Tensor[[16, 2], pl.FP32]],
):
    s = pl.matmul(a, b)
    for lane in pl.split_aiv(2, mode=pl.SplitMode.LEFT_RIGHT):
        h = pl.aiv_shard(s)
        g = pl.aic_gather(pl.cast(h, pl.BF16))
    out[:] = pl.matmul(g, v)
