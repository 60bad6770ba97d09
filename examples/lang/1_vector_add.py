# The sum of two matrices, tile by tile: load, add, store.
import slipring.language as pl

ROWS, COLS, TILE = 64, 128, 16


@pl.incore
def add(
    a: pl.Tensor[[ROWS, COLS], pl.FP32],
    b: pl.Tensor[[ROWS, COLS], pl.FP32],
    c: pl.Out[pl.Tensor[[ROWS, COLS], pl.FP32]],
) -> None:
    for i in pl.range(0, ROWS, TILE):
        c[i : i + TILE, :] = a[i : i + TILE, :] + b[i : i + TILE, :]
