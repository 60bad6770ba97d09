# Shards of a product that the Cube core pads: they lie as the product does.
#
# args: full:f16[32x33]=1 full:f16[33x7]=0.5 zeros:f32[32x7]
# test: run %s --arch a5 --verify
# check: verify clean
# out[2]: f32 224*33
# test: run %s --arch a2a3 --verify
# out[2]: f32 224*33
import slipring.language as pl


@pl.incore
def f(
    a: pl.Tensor[[32, 33], pl.FP16],
    b: pl.Tensor[[33, 7], pl.FP16],
    y: pl.Out[pl.Tensor[[32, 7], pl.FP32]],
):
    s = pl.matmul(a, b)
    for lane in pl.split_aiv(2, mode=pl.SplitMode.UP_DOWN):
        y[lane * 16 : lane * 16 + 16, :] = pl.aiv_shard(s) * 2.0
