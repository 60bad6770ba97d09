# A point that leaves part of its result unwritten is faster, and it is not the best.
# test: tune %s --vary TILE=16,32,48 --arch a5
# check: 3 points of TILE, 2 clean, 1 with findings
# check: findings: output-in-part
# check: best: TILE=32:
import slipring.language as pl

TILE = 16


@pl.jit
def double(x: pl.Tensor[[64, 64], pl.FP32], out: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
    for at in pl.range(64 // TILE):
        out[at * TILE : at * TILE + TILE, :] = pl.mul(x[at * TILE : at * TILE + TILE, :], 2.0)
