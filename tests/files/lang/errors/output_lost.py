# An assignment to the name of an output writes nothing: the name stands for the tile from then on.
#
# test: check %s
# exit: 2
import slipring.language as pl


@pl.jit
# error: output-lost `y` is a tile at the end of the kernel, and the output of that name is never written
def rebound(x: pl.Tensor[[64, 64], pl.FP32], y: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
    with pl.at(level=pl.Level.CORE_GROUP):
        y = pl.mul(x[:, :], 2.0)
        y = pl.add(y, 1.0)
    return y


@pl.jit
def stored(x: pl.Tensor[[64, 64], pl.FP32], y: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
    with pl.at(level=pl.Level.CORE_GROUP):
        y = pl.store(pl.mul(x[:, :], 2.0), [0, 0], y)
    return y
