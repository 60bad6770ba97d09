# A tensor that a scope makes and whose elements it reads and writes is a tile of UB, in a part that is called, too: the scalar unit and
# the pipes meet there without the cache of the A2/A3 between them. What is read of it in a later scope is one more buffer.
#
# platforms: a5, a2a3
# test: run %s --func lists --verify --arg iota:i32[4] --arg zeros:i32[4x8]
# exit: 0
# check: verify clean
# out[1]: i32 0 -1 -1 -1 -1 -1 -1 -1 10 11 -1 -1 -1 -1 -1 -1 20 21 22 -1 -1 -1 -1 -1 30 31 32 33 -1 -1 -1 -1
# test: run %s --func one --verify --arg iota:i32[1x8] --arg zeros:i32[1x8]
# exit: 0
# check: verify clean
# out[1]: i32 0 101 2 3 4 5 6 107
# test: run %s --func two --verify --arg iota:i32[1x8] --arg zeros:i32[1x8]
# exit: 0
# check: verify clean
# out[1]: i32 1 2 3 4 5 6 7 57
import pypto.language as pl


@pl.jit.inline
def fill(row: pl.Tensor, n: pl.Scalar[pl.INT32]):
    for i in pl.range(8):
        if i < n + 1:
            pl.write(row, [0, i], pl.cast(n * 10 + i, pl.INT32))


@pl.jit
def lists(counts: pl.Tensor[[4], pl.INT32], out: pl.Out[pl.Tensor[[4, 8], pl.INT32]]):
    for token in pl.spmd(4):
        row = pl.create_tensor([1, 8], dtype=pl.INT32)
        row[:, :] = pl.full([1, 8], dtype=pl.INT32, value=-1)
        fill(row, pl.read(counts, [token]))
        out[token : token + 1, :] = row
    return out


@pl.jit
def one(x: pl.Tensor[[1, 8], pl.INT32], out: pl.Out[pl.Tensor[[1, 8], pl.INT32]]):
    with pl.at(level=pl.Level.CORE_GROUP):
        row = pl.create_tensor([1, 8], dtype=pl.INT32)
        row[:, :] = x[:, :]
        for i in pl.range(1, 8, 6):
            pl.write(row, [0, i], pl.read(row, [0, i]) + 100)
        out[:, :] = row
    return out


@pl.jit
def two(x: pl.Tensor[[1, 8], pl.INT32], out: pl.Out[pl.Tensor[[1, 8], pl.INT32]]):
    with pl.at(level=pl.Level.CORE_GROUP):
        row = pl.create_tensor([1, 8], dtype=pl.INT32)
        row[:, :] = x[:, :]
        pl.write(row, [0, 7], pl.read(x, [0, 7]) * 8)
    with pl.at(level=pl.Level.CORE_GROUP):
        out[:, :] = pl.add(row[:, :], 1)
    return out
