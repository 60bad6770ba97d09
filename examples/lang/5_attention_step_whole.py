# The attention step undivided: one Vector core has all rows. The whole tiles just fit into its memory.
import slipring.language as pl

M_TILE, HEAD_DIM, K_TILE = 64, 512, 128
H_TILE = 16
SCALE = 0.04419417382415922  # 1 / sqrt(512)


@pl.incore
def qk_pv(
    q: pl.Tensor[[M_TILE, HEAD_DIM], pl.BF16],
    kv: pl.Tensor[[K_TILE, HEAD_DIM], pl.BF16],
    mi: pl.Out[pl.Tensor[[M_TILE, 1], pl.FP32]],
    li: pl.Out[pl.Tensor[[M_TILE, 1], pl.FP32]],
    oi: pl.Out[pl.Tensor[[M_TILE, HEAD_DIM], pl.FP32]],
):
    qk_raw = pl.matmul(q, kv, b_trans=True, out_dtype=pl.FP32)
    scores = qk_raw * SCALE
    qk_mi = pl.row_max(scores)
    p = pl.exp(pl.row_expand_sub(scores, qk_mi))
    qk_li = pl.row_sum(p)
    for r0 in pl.unroll(0, M_TILE, H_TILE):
        mi[r0 : r0 + H_TILE, :] = qk_mi[r0 : r0 + H_TILE, :]
        li[r0 : r0 + H_TILE, :] = qk_li[r0 : r0 + H_TILE, :]
    oi[:] = pl.matmul(pl.cast(p, pl.BF16, mode="rint"), kv, out_dtype=pl.FP32)
