# An element of a tile is a number where one is needed: an offset, a condition of numbers, the value of another element.
#
# platforms: a5, a2a3
# args: iota:i32[16x64] zeros:i32[16x64]
# test: run %s --verify
# out[1]: i32 2 131 64*0 …
import slipring.language as pl


@pl.incore
def k(x: pl.Tensor[[16, 64], pl.INT32], out: pl.InOut[pl.Tensor[[16, 64], pl.INT32]]):
    t = pl.load(x, [0, 0], [16, 64])
    row = t[0, 2]
    pl.write(out, [0, 0], row)
    pl.write(out, [0, 1], pl.read(x, [row, 3]))
