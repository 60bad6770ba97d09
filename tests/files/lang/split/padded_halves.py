# Halves whose lines are padded: each lane has half of what is valid.
#
# args: full:bf16[32x32]=1 full:bf16[32x48]=0 full:bf16[48x32]=1 zeros:f32[32x32]
# test: run %s --arch a5 --verify
# check: verify clean
# out[3]: f32 1024*48
# test: run %s --arch a2a3 --verify
# check: verify clean
# out[3]: f32 1024*48
import slipring.language as pl


@pl.incore
def f(
    a: pl.Tensor[[32, 32], pl.BF16],
    b: pl.Tensor[[32, 48], pl.BF16],
    v: pl.Tensor[[48, 32], pl.BF16],
    out: pl.Out[pl.Tensor[[32, 32], pl.FP32]],
):
    s = pl.matmul(a, b)
    for lane in pl.split_aiv(2, mode=pl.SplitMode.LEFT_RIGHT):
        h = pl.aiv_shard(s)
        g = pl.aic_gather(pl.cast(pl.exp(h), pl.BF16))
    out[:] = pl.matmul(g, v)
