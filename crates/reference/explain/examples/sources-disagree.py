# slipring run FILE
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
