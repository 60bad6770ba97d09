# Attention of many rows: each block takes 128 rows of q and goes over all keys. The Cube core makes scores a tile ahead and takes
# weights a tile later, the Vector cores take products a tile after that.
import slipring.language as pl

BLOCKS, KEYS, TILE = 8, 1024, 128
ROWS, DIM = 128, 128
HALF = ROWS // 2
SCALE = 0.08838834764831845  # 1 / sqrt(128)
DOWN = pl.SplitMode.UP_DOWN


@pl.jit
def attention(
    q: pl.Tensor[[BLOCKS * ROWS, DIM], pl.FP16],
    k: pl.Tensor[[KEYS, DIM], pl.FP16],
    v: pl.Tensor[[KEYS, DIM], pl.FP16],
    out: pl.Out[pl.Tensor[[BLOCKS * ROWS, DIM], pl.FP32]],
):
    first = pl.get_block_idx() * ROWS
    mine = q[first : first + ROWS, :]
    scores = pl.matmul(mine, k[0:TILE, :], b_trans=True)
    for lane in pl.split_aiv(2, mode=DOWN):
        highest = pl.full([HALF, 1], pl.FP32, -3.0e38)
        total = pl.full([HALF, 1], pl.FP32, 0.0)
        result = pl.full([HALF, DIM], pl.FP32, 0.0)
        x = pl.aiv_shard(scores)
    for at in pl.unroll(0, KEYS, TILE):
        if at + TILE < KEYS:
            scores = pl.matmul(mine, k[at + TILE : at + 2 * TILE, :], b_trans=True)
        for lane in pl.split_aiv(2, mode=DOWN):
            x = x * SCALE
            now = pl.maximum(highest, pl.row_max(x))
            if at > 0:
                weights = pl.aic_gather(narrow)
            p = pl.exp(pl.row_expand_sub(x, now))
            shrink = pl.exp(highest - now)
            narrow = pl.cast(p, pl.FP16)
            total = total * shrink + pl.row_sum(p)
            highest = now
            if at + TILE < KEYS:
                x = pl.aiv_shard(scores)
            if at > TILE:
                result = pl.row_expand_mul(result, before) + pl.aiv_shard(part)
            if at > 0:
                before = last
            last = shrink
        if at > 0:
            part = pl.matmul(weights, v[at - TILE : at, :])
    for lane in pl.split_aiv(2, mode=DOWN):
        weights = pl.aic_gather(narrow)
        result = pl.row_expand_mul(result, before) + pl.aiv_shard(part)
    part = pl.matmul(weights, v[KEYS - TILE : KEYS, :])
    for lane in pl.split_aiv(2, mode=DOWN):
        result = pl.row_expand_mul(result, last) + pl.aiv_shard(part)
        row = lane * HALF
        out[first + row : first + row + HALF, :] = pl.row_expand_div(result, total)
