# An index of an array that only the run knows, and that lies outside: the run stops there and says which it was.
#
# platforms: a5, a2a3
# test: run %s --arg iota:i32[1x16] --arg zeros:i32[1x16]
# exit: 1
# check: index 4 of an array of 4 elements
# check: where `i` is 4
# check: error[trap]: the index is outside of this array of 4 elements: it is printed
# test: run %s --arg full:i32[1x16]=3 --arg zeros:i32[1x16]
# exit: 0
# out[1]: i32 36 15*0
# test: run %s --arg full:i32[1x16]=-1 --arg zeros:i32[1x16]
# exit: 1 with trap
# check: index -1 of an array of 4 elements
# check: where `i` is 0
import pypto.language as pl


@pl.jit
def looked_up(x: pl.Tensor[[1, 16], pl.INT32], out: pl.Out[pl.Tensor[[1, 16], pl.INT32]]):
    with pl.at(level=pl.Level.CORE_GROUP):
        values = pl.array.create(4, pl.INT32)
        for i in pl.range(4):
            values[i] = i + 3
        total = 0
        for i in pl.range(6):
            total = total + values[pl.read(x, [0, i])]
        pl.write(out, [0, 0], pl.cast(total, pl.INT32))
        for i in pl.range(1, 16):
            pl.write(out, [0, i], 0)
    return out
