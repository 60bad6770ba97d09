# Halves from two places that a loop exchanges: the check of the split comes to an end, and nothing is wrong with them.
#
# args: full:f32[64x32]=1 full:f32[32x32]=1 full:f32[64x32]=3 zeros:f32[64x32]
# platforms: a5, a2a3
# test: run %s --verify
# out[3]: f32 2048*66
import slipring.language as pl


@pl.incore
def f(
    a: pl.Tensor[[64, 32], pl.FP32],
    b: pl.Tensor[[32, 32], pl.FP32],
    x: pl.Tensor[[64, 32], pl.FP32],
    y: pl.Out[pl.Tensor[[64, 32], pl.FP32]],
):
    p = pl.matmul(a, b)
    for lane in pl.split_aiv(2, mode=pl.SplitMode.UP_DOWN):
        s = pl.aiv_shard(p) * 2.0
        t = pl.load(x, [lane * 32, 0], [32, 32]) - 1.0
        for i in pl.range(3):
            s, t = t, s
        y[lane * 32 : lane * 32 + 32, :] = s + t
