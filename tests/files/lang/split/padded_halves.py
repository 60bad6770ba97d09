# Halves whose lines are padded do not make up the whole tile.
#
# test: check %s
# exit: 2
import slipring.language as pl

@pl.incore
def f(
    a: pl.Tensor[[32, 32], pl.BF16],
    b: pl.Tensor[[32, 48], pl.BF16],
    v: pl.Tensor[[48, 32], pl.BF16],
    out: pl.Out[pl.Tensor[[32, 32], pl.FP32]],
):
    s = pl.matmul(a, b)
    for lane in pl.split_aiv(2, mode=pl.SplitMode.LEFT_RIGHT):
        h = pl.aiv_shard(s)
        # error: split-padded a tile [32, 48] and a lane's part [32, 24] do not fit together
        g = pl.aic_gather(pl.cast(pl.exp(h), pl.BF16))
    out[:] = pl.matmul(g, v)
