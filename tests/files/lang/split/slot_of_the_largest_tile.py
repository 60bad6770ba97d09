# All transfers of a kernel that agree in layout share one pipe: its slots are as large as the largest whole tile, 32 x 64 f32.
#
# platforms: a5, a2a3
# test: run %s --verify
# check: race clean
# check: verify clean
# out[2]: f32 2048*16.0
# out[3]: f32 256*16.0
# test: build %s --arch a5
# check: slot_size = 8192
# check-not: slot_size = 1024
# test: build %s --arch a2a3
# check: slot_size = 8192
# args: full:f16[32x64]=0.5 full:f16[64x64]=0.5 zeros:f32[32x64] zeros:f32[16x16]
import slipring.language as pl


@pl.incore
def f(
    x: pl.Tensor[[32, 64], pl.FP16],
    w: pl.Tensor[[64, 64], pl.FP16],
    y: pl.Out[pl.Tensor[[32, 64], pl.FP32]],
    z: pl.Out[pl.Tensor[[16, 16], pl.FP32]],
):
    large = pl.matmul(x, w)
    small = pl.matmul(x[0:16, :], w[:, 0:16])
    for lane in pl.split_aiv(2, mode=pl.SplitMode.UP_DOWN):
        row = lane * 16
        y[row : row + 16, :] = pl.aiv_shard(large)
        own = lane * 8
        z[own : own + 8, :] = pl.aiv_shard(small)
