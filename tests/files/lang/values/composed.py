# Words that are several instructions, numbers that become floats beside floats, and new dimensions.
#
# args: iota:f32[16] zeros:f32[4x8] zeros:f32[4x8] zeros:f32[4x8] zeros:f32[4x8] zeros:f32[4x8]
# test: run %s --arch a5 --verify
# check: verify clean
# out[1]: f32 0 0 0 0 0 0 0 0 0 1 2 3 4 5 6 7 0 2 4 6 8 10 12 14 0 3 6 9 12 15 18 21
# out[2]: f32 0 0 0 0 0 0 0 0 0 1 2 3 4 5 6 7 0 2 4 6 8 10 12 14 0 3 6 9 12 15 18 21
# out[3]: f32 0.25 0.25 0.25 0.25 0.25 0.25 0.25 0.25 0.25 0.25 1.5 1.5 1.5 1.5 1.5 1.5 1.5 1.5 1.5 1.5 1.5 1.5 1.5 1.5 1.5 1.5 1.5 1.5 1.5 1.5 1.5 1.5
# out[4]: f32 10 10 10 10 17 26 37 50 65 82 101 122 145 170 197 226 257 290 325 362 401 401 401 401 401 401 401 401 401 401 401 401
# out[5]: f32 3 3 3 3 3 3 3 3 3 3 3 3 3 3 3 3 3 3 3 3 3 3 3 3 3 3 3 3 3 3 3 3
# test: run %s --arch a2a3 --verify
# check: verify clean
# out[1]: f32 0 0 0 0 0 0 0 0 0 1 2 3 4 5 6 7 0 2 4 6 8 10 12 14 0 3 6 9 12 15 18 21
# out[2]: f32 0 0 0 0 0 0 0 0 0 1 2 3 4 5 6 7 0 2 4 6 8 10 12 14 0 3 6 9 12 15 18 21
# out[3]: f32 0.25 0.25 0.25 0.25 0.25 0.25 0.25 0.25 0.25 0.25 1.5 1.5 1.5 1.5 1.5 1.5 1.5 1.5 1.5 1.5 1.5 1.5 1.5 1.5 1.5 1.5 1.5 1.5 1.5 1.5 1.5 1.5
# out[4]: f32 10 10 10 10 17 26 37 50 65 82 101 122 145 170 197 226 257 290 325 362 401 401 401 401 401 401 401 401 401 401 401 401
# out[5]: f32 3 3 3 3 3 3 3 3 3 3 3 3 3 3 3 3 3 3 3 3 3 3 3 3 3 3 3 3 3 3 3 3
import slipring.language as pl


@pl.incore
def f(
    x: pl.Tensor[[16], pl.FP32],
    outer: pl.Out[pl.Tensor[[4, 8], pl.FP32]],
    scaled: pl.Out[pl.Tensor[[4, 8], pl.FP32]],
    picked: pl.Out[pl.Tensor[[4, 8], pl.FP32]],
    clamped: pl.Out[pl.Tensor[[4, 8], pl.FP32]],
    rounded_up: pl.Out[pl.Tensor[[4, 8], pl.FP32]],
):
    outer[:, :] = x[0:4, None] * x[None, 0:8]
    for i in pl.range(4):
        scaled[i : i + 1, :] = x[None, 0:8] * i
    count = pl.arange(0, [4, 8])
    picked[:, :] = pl.where(count > 9, 1.5, 0.25)
    t = pl.clamp(pl.cast(count, pl.FP32), 3.0, 20.0)
    clamped[:, :] = pl.square(t) + pl.ones([4, 8], pl.FP32)
    rounded_up[:, :] = pl.zeros_like(t) + pl.cdiv(10, 4)
