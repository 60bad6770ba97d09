# The attention step with both Vector cores computing all rows: whole tiles cross, and each core stores half of what it has.
import slipring.language as pl

M_TILE, HEAD_DIM, K_TILE = 64, 512, 128
H_TILE = 16
HALF = M_TILE // 2
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
    for aiv_id in pl.split_aiv(2, mode=pl.SplitMode.NONE):
        scores = pl.aiv_shard(qk_raw) * SCALE
        qk_mi = pl.row_max(scores)
        p = pl.exp(pl.row_expand_sub(scores, qk_mi))
        qk_li = pl.row_sum(p)
        for j in pl.unroll(HALF // H_TILE):
            row = aiv_id * HALF + j * H_TILE
            mi[row : row + H_TILE, :] = qk_mi[row : row + H_TILE, :]
            li[row : row + H_TILE, :] = qk_li[row : row + H_TILE, :]
        qk_full = pl.aic_gather(pl.cast(p, pl.BF16, mode="rint"))
    oi[:] = pl.matmul(qk_full, kv, out_dtype=pl.FP32)
