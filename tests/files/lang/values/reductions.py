# Rows and columns reduced to one element each.
#
# args: iota:f32[2x8] zeros:f32[2x1] zeros:f32[2x1] zeros:f32[2x1] zeros:f32[2x1] zeros:f32[4x8]
# platforms: a5, a2a3
# test: run %s --verify
# check: verify clean
# out[1]: f32 28 92
# out[2]: f32 7 15
# out[3]: f32 0 8
# out[4]: f32 40320 2027025
# out[5]: f32 8 10 12 14 16 18 20 22  8 9 10 11 12 13 14 15  0 1 2 3 4 5 6 7  0 9 20 33 48 65 84 105
import slipring.language as pl


@pl.incore
def f(
    a: pl.Tensor[[2, 8], pl.FP32],
    total: pl.Out[pl.Tensor[[2, 1], pl.FP32]],
    most: pl.Out[pl.Tensor[[2, 1], pl.FP32]],
    least: pl.Out[pl.Tensor[[2, 1], pl.FP32]],
    product: pl.Out[pl.Tensor[[2, 1], pl.FP32]],
    columns: pl.Out[pl.Tensor[[4, 8], pl.FP32]],
):
    x = pl.load(a, [0, 0], [2, 8])
    total[:] = pl.row_sum(x)
    most[:] = pl.row_max(x)
    least[:] = pl.row_min(x)
    # Rows 1 2 3 4 5 6 7 8 and 1 3 5 7 9 11 13 15.
    step = pl.col_expand_mul(pl.full([2, 8], pl.FP32, 1.0), pl.full([1, 8], pl.FP32, 1.0))
    odd = x + 1
    odd[1:2, :] = (x[1:2, :] - 8) * 2 + step[0:1, :]
    product[:] = pl.row_prod(odd)
    columns[0:1, :] = pl.col_sum(x)
    columns[1:2, :] = pl.col_max(x)
    columns[2:3, :] = pl.col_min(x)
    columns[3:4, :] = pl.col_prod(x)
