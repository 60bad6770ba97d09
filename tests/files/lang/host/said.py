# Several things said at once, formatted strings of constants and, where they are only said, of what values are.
#
# test: check %s --arch a5
# check: note[static-print]: the input is a tensor [2, 16, 16] FP32
# check: note[static-print]: tile a tile [16, 16] FP32 in vec of 2
import slipring.language as pl

COUNT = 2


@pl.incore
def f(x: pl.Tensor[[COUNT, 16, 16], pl.FP32], y: pl.Out[pl.Tensor[[16, 16], pl.FP32]]):
    pl.static_print(f"the input is {x}")
    all_of_it = pl.load(x, [0, 0, 0], [COUNT, 16, 16])
    one: pl.Tile[[16, 16], pl.FP32] = all_of_it[1]
    pl.static_print("tile", one, f"of {COUNT}")
    y = pl.store(one, [0, 0], y)
