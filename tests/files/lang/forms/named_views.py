# A view or a place of a type may have a name: that of the file says the same as one in the type.
#
# platforms: a5, a2a3
# test: run %s --func copied --arg iota:f32[2x64] --arg zeros:f32[2x64]
# check: `pl.MemRef` has no effect
# out[1]: f32 0 1 2 3 4 5 6 7 …
# test: run %s --func in_slots --arg iota:f32[2x64] --arg zeros:f32[2x64]
# out[1]: f32 0 1 2 3 4 5 6 7 …
import pypto.language as pl

BY_ROWS = pl.TensorView(stride=[64, 1], layout=pl.TensorLayout.ND)
WHOLE = pl.TileView(valid_shape=[2, 64])
PING = pl.MemRef()
BOTH = pl.MemRef(slots=2)
X = pl.Tensor[[2, 64], pl.FP32, BY_ROWS]


@pl.function(type=pl.FunctionType.InCore)
def copied(x: pl.Tensor[[2, 64], pl.FP32, BY_ROWS], y: pl.Out[X]):
    t: pl.Tile[[2, 64], pl.FP32, PING, pl.Mem.Vec, WHOLE] = pl.load(x, [0, 0], [2, 64])
    y = pl.store(t, [0, 0], y)
    return y


@pl.function(type=pl.FunctionType.InCore)
def in_slots(x: X, y: pl.Out[X]):
    for i in pl.range(2):
        t: pl.Tile[[1, 64], pl.FP32, BOTH[i % 2], pl.Mem.Vec] = pl.load(x, [i, 0], [1, 64])
        y = pl.store(t, [i, 0], y)
    return y
