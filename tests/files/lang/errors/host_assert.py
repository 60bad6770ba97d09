# An assertion of the file that does not hold stops it, as it stops Python.
#
# test: check %s
# exit: 2
import slipring.language as pl

TILE = 48
# error: assert the file's own code stops here: AssertionError: a multiple of 32
assert TILE % 32 == 0, "a multiple of 32"


@pl.incore
def k(a: pl.Tensor[[96, 64], pl.FP32], out: pl.Out[pl.Tensor[[96, 64], pl.FP32]]):
    for i in pl.range(0, 96, TILE):
        out[i : i + TILE, :] = a[i : i + TILE, :] + 1.0
