# An odd number of rows of a product: the lanes' tiles are equally large, and the second one has a row less that is valid. Row r of
# the product is 256 r + 120 in each column.
#
# args: iota:f16[17x16] full:f16[16x16]=1 zeros:f32[17x16]
# platforms: a5, a2a3
# test: run %s --verify
# check: verify clean
# out[2]: f32 16*120 16*376 16*632 16*888 16*1144 16*1400 16*1656 16*1912 16*2168 16*2424 16*2680 16*2936 16*3192 16*3448 16*3704 16*3960 16*4216
import slipring.language as pl


@pl.incore
def f(a: pl.Tensor[[17, 16], pl.FP16], b: pl.Tensor[[16, 16], pl.FP16], y: pl.Out[pl.Tensor[[17, 16], pl.FP32]]):
    c = pl.matmul(a, b)
    for lane in pl.split_aiv(2, mode=pl.SplitMode.UP_DOWN):
        y[lane * 9 : lane * 9 + 9, :] = pl.aiv_shard(c)
