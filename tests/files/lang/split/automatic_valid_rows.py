# The automatic split of a product of which a part is valid: each Vector core has what is valid of its half of the tile, which for
# the second one is less, or nothing. Row r of the product is 256 r + 120 in each column, and is doubled.
#
# args: iota:f16[16x16] full:f16[16x16]=1 13:i64 3:i64 zeros:f32[16x16] zeros:f32[16x16] zeros:f32[16x16] zeros:f32[16x16]
# platforms: a5, a2a3
# test: run %s --verify
# check: verify clean
# out[4]: f32 16*240 16*752 16*1264 16*1776 16*2288 16*2800 16*3312 16*3824 16*4336 16*4848 16*5360 16*5872 16*6384 16*6896 16*7408 16*0
# out[5]: f32 16*240 16*752 16*1264 16*1776 16*2288 16*2800 16*3312 16*3824 16*4336 16*4848 16*5360 16*5872 16*6384 16*0 16*0 16*0
# out[6]: f32 16*240 16*752 16*1264 16*0 16*0 16*0 16*0 16*0 16*0 16*0 16*0 16*0 16*0 16*0 16*0 16*0
# out[7]: f32 16*240 16*752 16*1264 16*1776 16*2288 16*2800 16*3312 16*3824 16*4336 16*4848 16*5360 16*5872 16*6384 16*6896 16*7408 16*7920
import slipring.language as pl


@pl.jit
def f(
    a: pl.Tensor[[16, 16], pl.FP16],
    w: pl.Tensor[[16, 16], pl.FP16],
    n: pl.Scalar[pl.INDEX],
    few: pl.Scalar[pl.INDEX],
    fifteen: pl.InOut[pl.Tensor[[16, 16], pl.FP32]],
    passed: pl.InOut[pl.Tensor[[16, 16], pl.FP32]],
    one_core: pl.InOut[pl.Tensor[[16, 16], pl.FP32]],
    padded: pl.InOut[pl.Tensor[[16, 16], pl.FP32]],
):
    with pl.at(level=pl.Level.CORE_GROUP, optimizations=[pl.split(pl.SplitMode.UP_DOWN)]):
        b = pl.slice(a, [16, 16], [0, 0], valid_shape=[15, 16])
        fifteen[:] = pl.matmul(b, w, out_dtype=pl.FP32) * 2.0
        c = pl.slice(a, [16, 16], [0, 0], valid_shape=[n, 16])
        passed[:] = pl.matmul(c, w, out_dtype=pl.FP32) * 2.0
        d = pl.slice(a, [16, 16], [0, 0], valid_shape=[few, 16])
        one_core[:] = pl.matmul(d, w, out_dtype=pl.FP32) * 2.0
        padded[:] = pl.matmul(a, w, out_dtype=pl.FP32) * 2.0
