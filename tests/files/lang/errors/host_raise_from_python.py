# An exception with a message of Python in its own is reported with both, and with what follows.
#
# test: check %s
# exit: 2
import slipring.language as pl


class TileError(Exception):
    pass


@pl.incore
def k(a: pl.Tensor[[96, 64], pl.FP32], out: pl.Out[pl.Tensor[[96, 64], pl.FP32]]):
    out[:, :] = a[:, :] + 1.0


try:
    try:
        ROWS = 3 // 0
    except ZeroDivisionError as e:
        raise RuntimeError(f"cannot divide: {e}, by {4 - 4}")
except RuntimeError as e:
    # error: raise the file's own code stops here: TileError: rows: cannot divide: division by zero, by 0
    raise TileError("rows: %s" % e)
