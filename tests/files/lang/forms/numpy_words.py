# Words of numpy: from after, one element as a number, transposed, elements by a mask, a mean, repeated rows.
# x is 0 to 63 in 8 rows.
#
# args: iota:f32[8x8] zeros:f32[1x8] zeros:f32[8x8] zeros:f32[8x8] zeros:f32[8x1] zeros:f32[4x8] zeros:f32[1x8]
# platforms: a5, a2a3
# test: run %s --verify
# check: verify clean
# out[1]: f32 56 57 58 59 60 61 62 63
# out[2]: f32 0 8 16 24 32 40 48 56 1 9 …
# out[3]: f32 0 1 2 3 4 5 58*-1
# out[4]: f32 3.5 11.5 19.5 27.5 35.5 43.5 51.5 59.5
# out[5]: f32 0 1 2 3 4 5 6 7 0 1 2 3 4 5 6 7 …
# out[6]: f32 9 10 11 12 13 14 15 16
import slipring.language as pl


@pl.incore
def f(
    x: pl.Tensor[[8, 8], pl.FP32],
    last: pl.Out[pl.Tensor[[1, 8], pl.FP32]],
    turned: pl.Out[pl.Tensor[[8, 8], pl.FP32]],
    few: pl.Out[pl.Tensor[[8, 8], pl.FP32]],
    mean: pl.Out[pl.Tensor[[8, 1], pl.FP32]],
    rows: pl.Out[pl.Tensor[[4, 8], pl.FP32]],
    more: pl.Out[pl.Tensor[[1, 8], pl.FP32]],
):
    last[:, :] = x[-1:, :]
    turned[:, :] = x[:, :].T
    t = pl.load(x, [0, 0], [8, 8])
    t[t > 5.0] = -1.0
    few[:, :] = t
    mean[:, :] = pl.row_mean(x[:, :])
    rows[:, :] = pl.broadcast_to(x[0:1, :], [4, 8])
    i = pl.program_id(0)
    more[:, :] = x[i : i + 1, :] + x[1, 1]
