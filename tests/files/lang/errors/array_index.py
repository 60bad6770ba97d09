# An index of an array that leaves it in some iteration.
#
# test: run %s --arg zeros:i32[1x16]
# exit: 2
import pypto.language as pl


@pl.jit
def one_too_far(out: pl.Out[pl.Tensor[[1, 16], pl.INT32]]):
    with pl.at(level=pl.Level.CORE_GROUP):
        values = pl.array.create(4, pl.INT32)
        for i in pl.range(4):
            # error: bounds elements 4 to 5 lie outside an array of 4 elements where `i` is 3
            values[i + 1] = i
        pl.write(out, [0, 0], values[0])
    return out
