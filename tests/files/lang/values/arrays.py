# Arrays of numbers: elements at known places and at places that loops, branches and loaded numbers decide.
#
# args: iota:i32[1x16] zeros:i32[1x16]
# platforms: a5, a2a3
# test: run %s --verify
# check: verify clean
# out[1]: i32 6 3 9 12 0 1 4 9 16 100 3 0 0 0 0 0
import pypto.language as pl


@pl.jit
def arrays(x: pl.Tensor[[1, 16], pl.INT32], out: pl.Out[pl.Tensor[[1, 16], pl.INT32]]):
    with pl.at(level=pl.Level.CORE_GROUP):
        sums = pl.array.create(4, pl.INT32)
        for i in pl.range(6):
            # 0 + 4 is at 0, 1 + 5 at 1, 2 at 2, 3 at 3, each plus one for each iteration
            place = i % 4
            sums[place] = pl.array.get_element(sums, place) + pl.read(x, [0, i]) + 1
        # Here sums is 6, 8, 3, 4.
        if pl.read(x, [0, 3]) == 3:
            sums[1] = 3
        else:
            sums = pl.array.update_element(sums, 0, 77)
        sums[2] = sums[2] * 3
        sums[-1] = sums[3] + 8
        squares = pl.array.create(5, pl.INT32)
        for i in pl.unroll(5):
            squares[i] = i * i
        total = 0
        for i in pl.range(4):
            total = total + sums[i]
        for i in pl.range(4):
            pl.write(out, [0, i], sums[i])
        for i in pl.range(5):
            pl.write(out, [0, i + 4], squares[pl.read(x, [0, i])])
        pl.write(out, [0, 9], pl.cast(total, pl.INT32) + 70)
        chosen = (3, 5)
        pl.write(out, [0, 10], chosen[0])
        for i in pl.range(11, 16):
            pl.write(out, [0, i], 0)
    return out
