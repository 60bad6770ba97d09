# What is computed of a tail counts as far as the tail does, and wholly where that is all of it: a maximum of each row of the last
# columns, a tile like another one, tiles side by side, other types of the same bytes.
#
# args: iota:f32[3x6] zeros:f32[3x1] zeros:f32[3x6] zeros:f32[3x12] zeros:i32[3x6]
# platforms: a5, a2a3
# test: run %s --verify
# check: verify clean
# out[1]: f32 5 11 17
# out[2]: f32 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18
# out[3]: f32 0 1 2 3 4 5 -0 -1 -2 -3 -4 -5 6 7 8 9 10 11 -6 -7 -8 -9 -10 -11 12 13 14 15 16 17 -12 -13 -14 -15 -16 -17
# out[4]: i32 0 1065353216 1073741824 1077936128 1082130432 1084227584 1086324736 …
import slipring.language as pl


@pl.jit
def f(
    x: pl.Tensor[[3, 6], pl.FP32],
    most: pl.Out[pl.Tensor[[3, 1], pl.FP32]],
    more: pl.Out[pl.Tensor[[3, 6], pl.FP32]],
    pair: pl.Out[pl.Tensor[[3, 12], pl.FP32]],
    bits: pl.Out[pl.Tensor[[3, 6], pl.INT32]],
):
    m = pl.full([3, 1], pl.FP32, 0.0)
    for j in pl.range(0, 6, 4):
        if j >= 4:
            m = pl.maximum(m, pl.row_max(x[:, j : j + 4]))
        else:
            m = pl.row_max(x[:, j : j + 4])
    most[:] = m
    for i in pl.range(0, 3, 2):
        t = x[i : i + 2, :]
        more[i : i + 2, :] = pl.ones_like(t) + t
        pair[i : i + 2, :] = pl.concat(t, pl.neg(t))
        bits[i : i + 2, :] = pl.reinterpret_view(t, pl.INT32)
