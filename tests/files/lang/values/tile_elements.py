# Elements of tiles are read and written one by one, also of parts and of columns.
# args: iota:f32[4x16] zeros:f32[4x16] zeros:i32[4]
# test: run %s --arch a5
# out[1]: f32 0 1 2 3 4 18 6 7 8 9 10 11 12 13 14 15 16 17 …
# out[2]: i32 37 24 7 0
# test: run %s --arch a2a3
# out[2]: i32 37 24 7 0
import slipring.language as pl


@pl.incore
def kernel(
    x: pl.Tensor[[4, 16], pl.FP32],
    y: pl.Out[pl.Tensor[[4, 16], pl.FP32]],
    n: pl.Out[pl.Tensor[[4], pl.INT32]],
):
    t = pl.load(x, [0, 0], [4, 16])
    for i in pl.range(3):
        a = pl.read(t, [i, 5])
        pl.write(t, [0, 5], a - 19.0 + pl.read(t, [0, 0]))
    # 5 - 19, 21 - 19, 37 - 19
    y[:] = t
    column = pl.row_max(pl.load(x, [0, 0], [4, 16]))
    part = t[1:3, 8:16]
    numbers = pl.create_tile([1, 8], pl.INT32)
    for j in pl.range(4):
        pl.write(numbers, [0, j], j * 7)
    n[0] = 37
    n[1] = 24
    n[2] = pl.read(numbers, [0, 1])
    n[3] = pl.read(numbers, indices=[0, 0])
    if pl.read(column, [2, 0]) != 47.0:
        n[0] = 1
    if pl.read(part, [0, 0]) != 24.0:
        n[1] = 1
