# A tile of which fewer columns are valid is stored into a tensor that has only these, by `pl.store` and by a slice.
#
# args: iota:f32[2x12] zeros:f32[2x12] zeros:f32[2x12]
# test: run %s --verify
# check: verify clean
# out[1]: f32 0 2 4 6 8 10 12 14 16 18 20 22 24 26 28 30 32 34 36 38 40 42 44 46
# out[2]: f32 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23
# test: run %s --arch a2a3 --verify
# check: verify clean
# out[1]: f32 0 2 4 6 8 10 12 14 16 18 20 22 24 26 28 30 32 34 36 38 40 42 44 46
# out[2]: f32 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23
import slipring.language as pl


@pl.incore
def f(
    x: pl.Tensor[[2, 12], pl.FP32],
    y: pl.Out[pl.Tensor[[2, 12], pl.FP32]],
    z: pl.Out[pl.Tensor[[2, 12], pl.FP32]],
):
    t = pl.load(x, [0, 0], [2, 16], valid_shape=[2, 12])
    pl.store(t * 2.0, [0, 0], y)
    z[:] = t
