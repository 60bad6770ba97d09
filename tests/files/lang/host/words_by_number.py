# What the public language lets authors write as a number: rounding modes, values that fill; constants of modules, bytes of a type.
#
# platforms: a5, a2a3
# args: iota:f32[8x8] zeros:i32[8x8] zeros:f32[8x8]
# test: run %s --verify
# check: verify clean
# out[1]: i32 0 0 1 1 2 2 3 3 4 4 5 5 6 6 7 7 …
# out[2]: f32 0 1 2 3 4 5 0 0 8 9 10 11 12 13 0 0 …
import math

import slipring.language as pl

SIDE = 2 * pl.FP32.get_byte()


@pl.incore
def f(
    x: pl.Tensor[[SIDE, 8], pl.FP32],
    y: pl.Out[pl.Tensor[[SIDE, 8], pl.INT32]],
    z: pl.Out[pl.Tensor[[SIDE, 8], pl.FP32]],
):
    whole = pl.load(x, [0, 0], [2 * pl.FP32.get_byte(), 8])
    y[:] = pl.cast(whole * 0.5, pl.INT32, 5)
    part = pl.set_validshape(whole, 8, 6)
    low = pl.row_max(pl.fillpad(part, -math.inf))
    z[:] = pl.fillpad(part, 0) + (low - low)
