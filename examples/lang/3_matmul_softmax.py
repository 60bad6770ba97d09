# Softmax of a product: the Cube core multiplies, and each Vector core takes half of the rows of the result.
import slipring.language as pl

M, N, K = 64, 64, 128
HALF = M // 2


@pl.incore
def matmul_softmax(
    a: pl.Tensor[[M, K], pl.FP16],
    b: pl.Tensor[[K, N], pl.FP16],
    out: pl.Out[pl.Tensor[[M, N], pl.FP32]],
):
    scores = pl.matmul(a, b)
    for lane in pl.split_aiv(2, mode=pl.SplitMode.UP_DOWN):
        x = pl.aiv_shard(scores)
        e = pl.exp(pl.row_expand_sub(x, pl.row_max(x)))
        row = lane * HALF
        out[row : row + HALF, :] = pl.row_expand_div(e, pl.row_sum(e))
