# Lists that a kernel makes by a comprehension: of tiles and numbers, with conditions, inside each other, with names of their own.
# platforms: a5, a2a3
# test: run %s --verify --arg iota:f32[4x8] --arg zeros:f32[4x8]
# check: verify clean
# out[1]: f32 0 2 4 6 8 10 12 14 32 36 40 44 48 52 56 60 64 68 72 76 80 84 88 92 39 41 43 45 47 49 51 53
import slipring.language as pl


@pl.incore
def k(x: pl.Tensor[[4, 8], pl.FP32], y: pl.Out[pl.Tensor[[4, 8], pl.FP32]]):
    i = 33.0
    pairs = [(row, row % 2) for row in range(4) if row < 3]
    rows = [x[row : row + 1, :] * (2.0 if odd == 0 else 4.0) for row, odd in pairs]
    rows[2] = rows[2] * 2.0 - x[2:3, :] * 0.0
    products = [i * j for i in (1, 2) for j in (3, 5) if i < j]
    rows.append(x[3:4, :] * 2.0 + (sum_of(products) - i + 0.0 * len(rows)))
    for at in (0, 1, 3):
        y[at : at + 1, :] = rows[at]
    y[2:3, :] = rows[2] - x[2:3, :] * 0.0


@pl.inline
def sum_of(values):
    total = 0
    for value in values:
        total += value
    return total
