# Scopes of an entry are tasks; a tile that is read after its scope becomes a tensor of the program, numbers of loops
# are passed to the one kernel of all iterations, windows of tensors are what they stand for.
#
# args: iota:f32[64x16] zeros:f32[64x16]
# platforms: a5, a2a3
# test: run %s --verify
# check-not: needless-edge
# check: 6 tasks with 5 edges
# check: tasks clean
# check: verify clean
# check: part (i = 3)
# out[1]: f32 0 4 8 12 16 20 24 28 32 36 40 44 48 52 56 60 64 …
import pypto.language as pl


@pl.jit
def main(x: pl.Tensor[[64, 16], pl.FP32], out: pl.Out[pl.Tensor[[64, 16], pl.FP32]]):
    with pl.at(level=pl.Level.CORE_GROUP, name_hint="head"):
        twice = pl.add(x, x)
    for i in pl.parallel(4):
        rows = out[i * 16 : i * 16 + 16, :]
        with pl.at(level=pl.Level.CORE_GROUP, name_hint="part"):
            rows[:] = pl.mul(pl.load(twice, [i * 16, 0], [16, 16]), 2.0)
    last = out[48:64, :]
    with pl.at(level=pl.Level.CORE_GROUP, name_hint="tail"):
        last[:] = pl.add(last, 1.0)
    return out
