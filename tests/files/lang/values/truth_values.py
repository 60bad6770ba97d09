# Tensors of booleans: bytes, 0 and 1.
#
# platforms: a5, a2a3
# test: run %s --verify --arg iota:ui8[1x32] --arg zeros:ui8[2x32]
# check: verify clean
# out[1]: ui8 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31 32*1
import pypto.language as pl


@pl.jit
def copied(x: pl.Tensor[[1, 32], pl.BOOL], out: pl.Out[pl.Tensor[[2, 32], pl.BOOL]]):
    with pl.at(level=pl.Level.CORE_GROUP):
        pl.store(pl.load(x, [0, 0], [1, 32]), [0, 0], out)
        for i in pl.range(32):
            pl.write(out, [1, i], 1)
    return out
