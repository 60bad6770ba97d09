# Attention as in 6_attention.py, with its advice followed: what the Cube core waits for (the weights of a tile) is hidden behind
# the scores of the next tile, and the Vector cores take the product of a tile only after the weights of the next one.
import slipring.language as pl

ROWS, DIM, KEYS, TILE = 64, 128, 512, 128
HALF = ROWS // 2
SCALE = 0.08838834764831845  # 1 / sqrt(128)
DOWN = pl.SplitMode.UP_DOWN


@pl.jit
def attention_ahead(
    q: pl.Tensor[[ROWS, DIM], pl.FP16],
    k: pl.Tensor[[KEYS, DIM], pl.FP16],
    v: pl.Tensor[[KEYS, DIM], pl.FP16],
    out: pl.Out[pl.Tensor[[ROWS, DIM], pl.FP32]],
):
    for lane in pl.split_aiv(2, mode=DOWN):
        highest = pl.full([HALF, 1], pl.FP32, -3.0e38)
        total = pl.full([HALF, 1], pl.FP32, 0.0)
        result = pl.full([HALF, DIM], pl.FP32, 0.0)
    scores = pl.matmul(q, k[0:TILE, :], b_trans=True)
    for at in pl.unroll(0, KEYS, TILE):
        for lane in pl.split_aiv(2, mode=DOWN):
            x = pl.aiv_shard(scores) * SCALE
            now = pl.maximum(highest, pl.row_max(x))
            p = pl.exp(pl.row_expand_sub(x, now))
            shrink = pl.exp(highest - now)
            total = total * shrink + pl.row_sum(p)
            highest = now
            narrow = pl.cast(p, pl.FP16)
        if at + TILE < KEYS:
            scores = pl.matmul(q, k[at + TILE : at + 2 * TILE, :], b_trans=True)
        for lane in pl.split_aiv(2, mode=DOWN):
            weights = pl.aic_gather(narrow)
            if at > 0:
                result = pl.row_expand_mul(result, before) + pl.aiv_shard(part)
            before = shrink
        part = pl.matmul(weights, v[at : at + TILE, :])
    for lane in pl.split_aiv(2, mode=DOWN):
        result = pl.row_expand_mul(result, before) + pl.aiv_shard(part)
    for lane in pl.split_aiv(2, mode=DOWN):
        row = lane * HALF
        out[row : row + HALF, :] = pl.row_expand_div(result, total)
