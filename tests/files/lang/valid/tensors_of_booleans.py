# Tensors of booleans hold a byte for each: as masks, as results of comparisons, combined, as numbers.
#
# platforms: a5, a2a3
# test: run %s --func chosen --arg full:ui8[4x32]=1 --arg iota:f32[4x32] --arg zeros:f32[4x32] --verify
# out[2]: f32 0 1 2 3 4 5 6 7 8 …
# test: run %s --func chosen --arg zeros:ui8[4x32] --arg iota:f32[4x32] --arg zeros:f32[4x32] --verify
# out[2]: f32 -0 -1 -2 -3 -4 -5 -6 -7 -8 …
# test: run %s --func compared --arg iota:f32[4x32] --arg zeros:ui8[4x32] --verify
# out[1]: ui8 6*0 122*1
# test: run %s --func combined --arg full:ui8[4x32]=1 --arg iota:f32[4x32] --arg zeros:ui8[4x32] --verify
# out[2]: ui8 6*0 122*1
# test: run %s --func inverted --arg full:ui8[4x32]=1 --arg zeros:ui8[4x32] --verify
# out[1]: ui8 128*0
# test: run %s --func numbered --arg full:ui8[4x32]=1 --arg zeros:f16[4x32] --verify
# out[1]: f16 128*1
# test: run %s --func started --arg full:ui8[4x32]=1 --arg iota:f32[4x32] --arg zeros:f32[4x32] --verify
# out[2]: f32 0 1 2 3 4 5 6 7 8 …
# test: run %s --func bits --arg full:ui8[4x32]=1 --arg iota:f32[4x32] --arg zeros:f32[4x32] --verify
# out[2]: f32 0 -1 -2 -3 -4 -5 -6 -7 8 -9 …
import slipring.language as pl

B = pl.Tensor[[4, 32], pl.BOOL]
F = pl.Tensor[[4, 32], pl.FP32]


@pl.incore
def chosen(m: B, x: F, y: pl.Out[F]):
    t = pl.load(x, [0, 0], [4, 32])
    pl.store(pl.sel(pl.load(m, [0, 0], [4, 32]), t, pl.mul(t, -1.0)), [0, 0], y)


@pl.incore
def compared(x: F, y: pl.Out[B]):
    pl.store(pl.load(x, [0, 0], [4, 32]) > 5.0, [0, 0], y)


@pl.incore
def combined(m: B, x: F, y: pl.Out[B]):
    large = pl.cast(pl.load(x, [0, 0], [4, 32]), pl.FP16) > 5.0
    pl.store(pl.and_(pl.load(m, [0, 0], [4, 32]), large), [0, 0], y)


@pl.incore
def inverted(m: B, y: pl.Out[B]):
    pl.store(pl.not_(pl.load(m, [0, 0], [4, 32])), [0, 0], y)


@pl.incore
def numbered(m: B, y: pl.Out[pl.Tensor[[4, 32], pl.FP16]]):
    pl.store(pl.cast(pl.load(m, [0, 0], [4, 32]), pl.FP16), [0, 0], y)


@pl.jit
def started(m: B, x: F, y: pl.Out[F]):
    with pl.at(level=pl.Level.CORE_GROUP):
        y[:] = pl.where(m, x, pl.mul(x, -1.0))
    return y


@pl.incore
def bits(m: pl.Tensor[[4, 32], pl.UINT8], x: F, y: pl.Out[F]):
    t = pl.load(x, [0, 0], [4, 32])
    pl.store(pl.sel(pl.load(m, [0, 0], [4, 32]), t, pl.mul(t, -1.0)), [0, 0], y)
