# Tuples keep their elements, as Python has it; arrays do not.
#
# test: check %s
# exit: 2
import pypto.language as pl


@pl.jit
def changed(x: pl.Tensor[[1, 16], pl.INT32], out: pl.Out[pl.Tensor[[1, 16], pl.INT32]]):
    with pl.at(level=pl.Level.CORE_GROUP):
        pair = (pl.read(x, [0, 0]), pl.read(x, [0, 1]))
        # error: value-kind the elements of a tuple cannot be assigned
        pair[0] = 3
        constants = (1, 2)
        # error: value-kind the elements of a tuple cannot be assigned
        constants[1] = 3
        values = [pl.read(x, [0, 0]), pl.read(x, [0, 1])]
        values[0] = 3
        pl.write(out, [0, 0], values[0])
    return out
