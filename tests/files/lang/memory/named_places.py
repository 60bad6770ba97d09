# `pl.MemRef` bound to a name, as a type then names it.
#
# test: run %s --arch a5 --arg iota:f32[16x16] --arg zeros:f32[16x16] --verify
# check: note[type-argument]: `pl.MemRef` has no effect
# out[1]: f32 1 2 3 4 5 …
import slipring.language as pl


@pl.incore
def kernel(x: pl.Tensor[[16, 16], pl.FP32], y: pl.Out[pl.Tensor[[16, 16], pl.FP32]]):
    ping = pl.MemRef()
    t: pl.Tile[[16, 16], pl.FP32, ping, pl.Mem.Vec] = pl.load(x, [0, 0], [16, 16])
    both = pl.MemRef(slots=2)
    u: pl.Tile[[16, 16], pl.FP32, both[1], pl.Mem.Vec] = pl.add(t, 1.0)
    pl.store(u, [0, 0], y)
