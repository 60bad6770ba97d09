# An exception that nothing catches stops the file where it is raised, in a function that is called, too.
#
# test: check %s
# exit: 2
import slipring.language as pl


class TileError(ValueError):
    pass


def tile_of(n):
    if n % 32 != 0:
        # error: raise the file's own code stops here: TileError: tile 48 must be a multiple of 32
        raise TileError(f"tile {n} must be a multiple of 32")
    return n


try:
    tile_of(33)
except ValueError:
    pass
TILE = tile_of(48)


@pl.incore
def k(a: pl.Tensor[[96, 64], pl.FP32], out: pl.Out[pl.Tensor[[96, 64], pl.FP32]]):
    out[:, :] = a[:, :] + 1.0
