# The last tile of the loop has 4 of 48 keys: what the lanes hand to the Cube core is valid in part, and used after their
# region. Each of its elements is 64, the number of products in a row of ones, and 4 of them make 256.
#
# platforms: a5, a2a3
# test: run %s --verify
# check: same bytes as the sequential semantics
# out[2]: f32 2048*256
# The limit of cycles is one for the run: the sequential semantics takes more.
# test: run %s --verify --max-cycles 3500
# check: same bytes as the sequential semantics
# args: full:f16[32x64]=1 full:f16[100x64]=1 zeros:f32[32x64]
import slipring.language as pl

KEYS, TILE = 100, 48


@pl.jit
def k(
    q: pl.Tensor[[32, 64], pl.FP16],
    keys: pl.Tensor[[KEYS, 64], pl.FP16],
    out: pl.Out[pl.Tensor[[32, 64], pl.FP32]],
):
    for at in pl.range(0, KEYS, TILE):
        s = pl.matmul(q, keys[at : at + TILE, :], b_trans=True)
        for lane in pl.split_aiv(2, mode=pl.SplitMode.UP_DOWN):
            w = pl.aic_gather(pl.cast(pl.aiv_shard(s), pl.FP16))
        out[:, :] = pl.matmul(w, keys[at : at + TILE, :])
