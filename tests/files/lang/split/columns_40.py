# Half of 40 columns is 20, however wide the tile is that went through the same slots before. The hashes are those of
# products worked out in plain loops.
#
# args: iota:f16[64x2] iota:f16[2x48] iota:f16[2x40] zeros:f32[64x40] zeros:f32[64x48]
# platforms: a5, a2a3
# test: run %s --verify
# check: init clean
# check: verify clean
# out[3]: hash 60f076e8cf45ca66
# out[4]: hash 94228170630f6dfd
import slipring.language as pl


@pl.incore
def f(
    a: pl.Tensor[[64, 2], pl.FP16],
    w: pl.Tensor[[2, 48], pl.FP16],
    v: pl.Tensor[[2, 40], pl.FP16],
    y: pl.Out[pl.Tensor[[64, 40], pl.FP32]],
    z: pl.Out[pl.Tensor[[64, 48], pl.FP32]],
):
    for i in pl.unroll(2):
        d = pl.matmul(a, w)
        for k in pl.split_aiv(2):
            z[:, k * 24 : k * 24 + 24] = pl.aiv_shard(d, pl.SplitMode.LEFT_RIGHT)
    c = pl.matmul(a, v)
    for k in pl.split_aiv(2):
        y[:, k * 20 : k * 20 + 20] = pl.aiv_shard(c, pl.SplitMode.LEFT_RIGHT)
