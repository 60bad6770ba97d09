# Single elements read and written, extents and types asked for.
#
# args: iota:i32[16] iota:f32[2x8] zeros:f32[2x8] zeros:i32[8]
# test: run %s --verify
# check: verify clean
# out[2]: f32 3 7*0 3*0 5.5 4*0
# out[3]: i32 16 2 8 7 1 6 0 0
import slipring.language as pl


@pl.incore
def f(
    a: pl.Tensor[[16], pl.INT32],
    b: pl.Tensor[[2, 8], pl.FP32],
    c: pl.Out[pl.Tensor[[2, 8], pl.FP32]],
    n: pl.Out[pl.Tensor[[8], pl.INT32]],
):
    column = pl.read(a, [3])
    pl.write(c, [0, 0], pl.read(b, [0, column]))
    pl.write(c, [1, column], 5.5)
    n[0] = a.shape[0]
    n[1] = pl.dim(b, 0)
    n[2] = pl.dim(b, -1)
    n[3] = max(column, 7)
    n[4] = 1 if column > 2 else 0
    n[5] = (column * 5 - 1) // 2 - column % 2
