# Attention over several tiles of keys and values, with an online softmax: maximum, sum and result of each row are carried
# through the loop and rescaled whenever the maximum grows.
import slipring.language as pl

ROWS, DIM, KEYS, TILE = 64, 128, 512, 128
HALF = ROWS // 2
SCALE = 0.08838834764831845  # 1 / sqrt(128)
DOWN = pl.SplitMode.UP_DOWN


@pl.jit
def attention(
    q: pl.Tensor[[ROWS, DIM], pl.FP16],
    k: pl.Tensor[[KEYS, DIM], pl.FP16],
    v: pl.Tensor[[KEYS, DIM], pl.FP16],
    out: pl.Out[pl.Tensor[[ROWS, DIM], pl.FP32]],
):
    for lane in pl.split_aiv(2, mode=DOWN):
        highest = pl.full([HALF, 1], pl.FP32, -3.0e38)
        total = pl.full([HALF, 1], pl.FP32, 0.0)
        result = pl.full([HALF, DIM], pl.FP32, 0.0)
    for at in pl.range(0, KEYS, TILE):
        scores = pl.matmul(q, k[at : at + TILE, :], b_trans=True)
        for lane in pl.split_aiv(2, mode=DOWN):
            x = pl.aiv_shard(scores) * SCALE
            now = pl.maximum(highest, pl.row_max(x))
            p = pl.exp(pl.row_expand_sub(x, now))
            shrink = pl.exp(highest - now)
            total = total * shrink + pl.row_sum(p)
            highest = now
            weights = pl.aic_gather(pl.cast(p, pl.FP16))
        part = pl.matmul(weights, v[at : at + TILE, :])
        for lane in pl.split_aiv(2, mode=DOWN):
            result = pl.row_expand_mul(result, shrink) + pl.aiv_shard(part)
    for lane in pl.split_aiv(2, mode=DOWN):
        row = lane * HALF
        out[row : row + HALF, :] = pl.row_expand_div(result, total)
