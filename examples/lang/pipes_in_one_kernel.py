# Pushes, pops and frees by hand in a kernel for both kinds of core: its two programs and their pipe are the compiler's.
# out = relu(a @ b) @ v by blocks of rows, the relu on the Vector core.
import slipring.language as pl

BLOCKS, ROWS, N = 4, 16, 64


@pl.incore
def relu_between(
    a: pl.Tensor[[BLOCKS * ROWS, N], pl.FP32],
    b: pl.Tensor[[N, N], pl.FP32],
    v: pl.Tensor[[N, N], pl.FP32],
    out: pl.Out[pl.Tensor[[BLOCKS * ROWS, N], pl.FP32]],
):
    for i in pl.range(BLOCKS):
        row = i * ROWS
        pl.tpush_to_aiv(pl.matmul(a[row : row + ROWS, :], b), split=0)
        s = pl.tpop_from_aic(split=0)
        r = pl.relu(s)
        pl.tfree_to_aic(s)
        pl.tpush_to_aic(r, split=0)
        p = pl.tpop_from_aiv(split=0)
        o = pl.matmul(p, v)
        pl.tfree_to_aiv(p)
        out[row : row + ROWS, :] = o
