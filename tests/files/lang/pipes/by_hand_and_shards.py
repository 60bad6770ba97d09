# Pushes by hand beside shards and gathers: all rings share the flags, so that those by hand have fewer slots.
# args: full:f32[64x64]=1 full:f32[64x64]=0.5 full:f32[64x64]=0.25 zeros:f32[64x64] zeros:f32[64x64]
# platforms: a5, a2a3
# test: run %s
# out[3]: f32 4096*96
# out[4]: f32 4096*1024
import pypto.language as pl


@pl.incore
def k(
    a: pl.Tensor[[64, 64], pl.FP32],
    b: pl.Tensor[[64, 64], pl.FP32],
    v: pl.Tensor[[64, 64], pl.FP32],
    o1: pl.Out[pl.Tensor[[64, 64], pl.FP32]],
    out: pl.Out[pl.Tensor[[64, 64], pl.FP32]],
):
    q = pl.matmul(a, b)
    TPUSH(q, split=pl.SplitMode.UP_DOWN, id=2)
    for i in pl.split_aiv(2, mode=pl.SplitMode.UP_DOWN):
        t = TPOP(shape=[32, 64], dtype=pl.FP32, split=pl.SplitMode.UP_DOWN, id=2)
        o1[i * 32 : i * 32 + 32, :] = t * 3.0
        TFREE(t)
        x = pl.aiv_shard(q)
        g = pl.aic_gather(x * 2.0)
    out[:] = pl.matmul(g, v)
