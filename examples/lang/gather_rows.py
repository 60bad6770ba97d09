# Scores against scattered rows of a pool: each Vector core fetches half of the rows, by their numbers, and the Cube core multiplies
# by all of them.
#
# args: rand:bf16[16x512] iota:i32[128] rand:bf16[1024x512] zeros:f32[16x128]
import slipring.language as pl

QUERIES, DIM, ROWS, POOL = 16, 512, 128, 1024
HALF = ROWS // 2


@pl.incore
def gather_rows(
    q: pl.Tensor[[QUERIES, DIM], pl.BF16],
    idx: pl.Tensor[[ROWS], pl.INT32],
    pool: pl.Tensor[[POOL, DIM], pl.BF16],
    scores: pl.Out[pl.Tensor[[QUERIES, ROWS], pl.FP32]],
):
    for lane in pl.split_aiv(2, mode=pl.SplitMode.UP_DOWN):
        rows = pl.full([HALF, DIM], pl.BF16, 0.0)
        for k in pl.range(HALF):
            at = pl.read(idx, [lane * HALF + k])
            rows = pl.gather_row(rows, pool, [k, 0], [at, 0], [1, DIM])
        kv = pl.aic_gather(rows)
    scores[:] = pl.matmul(q, kv, b_trans=True)
