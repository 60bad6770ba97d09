# A Vector store outside every region is done once, by lane 0.
#
# args: zeros:f16[32x32] zeros:f16[32x32] full:f32[8x32]=3 zeros:f32[8x32] full:f32[32x32]=7
# test: run %s --verify
# check: race clean
# check: verify clean
# out[3]: f32 256*3
# out[4]: f32 1024*1
# test: run %s --arch a2a3 --verify
# check: race clean
# check: verify clean
# out[3]: f32 256*3
# out[4]: f32 1024*1
import slipring.language as pl

@pl.incore
def f(
    a: pl.Tensor[[32, 32], pl.FP16],
    b: pl.Tensor[[32, 32], pl.FP16],
    x: pl.Tensor[[8, 32], pl.FP32],
    y: pl.Out[pl.Tensor[[8, 32], pl.FP32]],
    out: pl.Out[pl.Tensor[[32, 32], pl.FP32]],
):
    t = pl.load(x, [0, 0], [8, 32])
    s = pl.matmul(a, b)
    for lane in pl.split_aiv(2, mode=pl.SplitMode.UP_DOWN):
        h = pl.aiv_shard(s)
        out[lane * 16 : lane * 16 + 16, :] = pl.exp(h)
    pl.store(t, [0, 0], y)
