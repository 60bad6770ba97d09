# Places that are outside in some iteration: it is named. What a branch decides is left to the run.
#
# test: check %s
# exit: 2
import slipring.language as pl


@pl.incore
def last(x: pl.Tensor[[64, 64], pl.FP32], y: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
    for i in pl.range(5):
        # error: bounds elements 64 to 80 lie outside the 64 of dimension 0 where `i` is 4
        t = pl.load(x, [i * 16, 0], [16, 64])
        pl.store(t, [0, 0], y)


@pl.incore
def nested(x: pl.Tensor[[64, 64], pl.FP32], y: pl.InOut[pl.Tensor[[64, 64], pl.FP32]]):
    for i in pl.range(2):
        for j in pl.range(i, 4):
            # error: bounds elements 48 to 80 lie outside the 64 of dimension 1 where `i` is 0 and `j` is 3
            pl.store(pl.load(x, [0, 0], [32, 32]), [0, i * 16 + j * 16], y)


@pl.incore
def of_a_tile(x: pl.Tensor[[64, 64], pl.FP32], y: pl.InOut[pl.Tensor[[64, 64], pl.FP32]]):
    t = pl.load(x, [0, 0], [64, 64])
    for i in pl.range(1, 10):
        # error: bounds elements -8 to 0 lie outside a tile [64, 64] where `i` is 9
        row = pl.slice(t, [8, 64], [64 - i * 8, 0])
        pl.store(row, [0, 0], y)


@pl.incore
def guarded(x: pl.Tensor[[64, 64], pl.FP32], y: pl.InOut[pl.Tensor[[64, 64], pl.FP32]]):
    for i in pl.range(5):
        if i < 4:
            pl.store(pl.load(x, [i * 16, 0], [16, 64]), [i * 16, 0], y)


@pl.incore
def never(x: pl.Tensor[[64, 64], pl.FP32], y: pl.InOut[pl.Tensor[[64, 64], pl.FP32]]):
    for i in pl.range(0):
        for j in pl.range(5):
            pl.store(pl.load(x, [j * 16, 0], [16, 64]), [0, 0], y)
