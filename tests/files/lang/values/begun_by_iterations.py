# A tile that a loop binds first has, after it, what the last iteration left. What a loop that does not run leaves is
# in `../errors/loop_of_no_iterations.py`.
#
# platforms: a5, a2a3
# test: run %s --func f --arg full:f32[16x16]=3 --arg 2:i32 --arg zeros:f32[16x16]
# check: memory clean
# out[2]: f32 256*6
# test: run %s --func f --arg full:f32[16x16]=3 --arg 1:i32 --arg zeros:f32[16x16]
# out[2]: f32 256*3
# test: run %s --func stored --arg full:f32[16x16]=3 --arg 2:i32 --arg zeros:f32[16x16]
# out[2]: f32 256*3
import slipring.language as pl


@pl.incore
def f(x: pl.Tensor[[16, 16], pl.FP32], n: pl.Scalar[pl.INT32], y: pl.Out[pl.Tensor[[16, 16], pl.FP32]]):
    for i in pl.range(n):
        last = pl.load(x, [0, 0], [16, 16]) * pl.cast(i + 1, pl.FP32)
    y[:, :] = last + 0.0


@pl.incore
def stored(x: pl.Tensor[[16, 16], pl.FP32], n: pl.Scalar[pl.INT32], y: pl.Out[pl.Tensor[[16, 16], pl.FP32]]):
    for i in pl.range(n):
        last = pl.load(x, [0, 0], [16, 16])
    y[:, :] = last
