# A value for each row, a value for each column.
#
# args: iota:f32[2x8] zeros:f32[26x8]
# test: run %s --arch a5 --verify
# check: verify clean
# out[1]: f32 10 11 12 13 14 15 16 17 28 29 30 31 32 33 34 35  -10 -9 -8 -7 -6 -5 -4 -3 -12 -11 -10 -9 -8 -7 -6 -5  0 10 20 30 40 50 60 70 160 180 200 220 240 260 280 300  0 0.5 1 1.5 2 2.5 3 3.5 2 2.25 2.5 2.75 3 3.25 3.5 3.75  8*10 8*20  0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15  0 2 4 6 8 10 12 14 8 10 12 14 16 18 20 22  8*0 8*8  0 1 4 9 16 25 36 49 0 9 20 33 48 65 84 105  8*10 8*20  0 1 2 3 4 5 6 7 0 1 2 3 4 5 6 7  16*3  0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15
import slipring.language as pl


@pl.incore
def f(a: pl.Tensor[[2, 8], pl.FP32], c: pl.Out[pl.Tensor[[26, 8], pl.FP32]]):
    x = pl.load(a, [0, 0], [2, 8])
    first = a[0:1, :] * 1.0
    # 10 and 20 of the rows: a maximum of each row, 7 and 15, made so.
    row = pl.row_max(x) * 1.25 + 1.25
    c[0:2, :] = pl.row_expand_add(x, row)
    c[2:4, :] = pl.row_expand_sub(x, row)
    c[4:6, :] = pl.row_expand_mul(x, row)
    c[6:8, :] = pl.row_expand_div(x, row / 5 + (pl.row_min(x) * 0.0))
    c[8:10, :] = pl.row_expand_max(x, row)
    c[10:12, :] = pl.row_expand_min(x, row)
    c[12:14, :] = pl.col_expand_add(x, first)
    c[14:16, :] = pl.col_expand_sub(x, first)
    c[16:18, :] = pl.col_expand_mul(x, first)
    c[18:20, :] = pl.row_expand(x, row)
    c[20:22, :] = pl.col_expand(x, first)
    c[22:24, :] = pl.expands(x, 3.0)
    c[24:26, :] = pl.col_expand_max(x, first)
