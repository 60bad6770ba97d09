# Iterations that overlap: three in the body of the loop, the seventh in one of its own; what is carried passes through all.
#
# args: full:f32[1x8]=1 zeros:f32[7x8] zeros:f32[1x8]
# test: run %s --verify
# check: verify clean
# out[1]: f32 8*1 8*2 8*3 8*4 8*5 8*6 8*7
# out[2]: f32 8*8
# test: run %s --arch a2a3 --verify
# check: verify clean
# out[1]: f32 8*1 8*2 8*3 8*4 8*5 8*6 8*7
# out[2]: f32 8*8
import slipring.language as pl


@pl.incore
def f(
    one: pl.Tensor[[1, 8], pl.FP32],
    rows: pl.Out[pl.Tensor[[7, 8], pl.FP32]],
    last: pl.Out[pl.Tensor[[1, 8], pl.FP32]],
):
    x = pl.load(one, [0, 0], [1, 8])
    t = x
    for i in pl.pipeline(7, stage=3):
        rows[i : i + 1, :] = t
        t = t + x
    last[:] = t
