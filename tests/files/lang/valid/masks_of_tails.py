# Comparisons of tiles of which a part counts, numbers on the left of a choice, and a mask of one row for many.
# platforms: a5, a2a3
# test: run %s --func rows --arg iota:f32[5x8] --arg zeros:f32[5x8] --verify
# out[1]: f32 9*-1 9 10 11 12 13 14 15 16 17 18 19 20*20
# test: run %s --func columns --arg iota:f32[4x8] --arg zeros:f32[4x8] --verify
# out[1]: f32 0 1 2 5*7 8 9 10 5*7 16 17 18 5*7 24 25 26 5*7
# test: run %s --func flags --arg iota:f32[5x8] --arg zeros:f32[5x8] --verify
# out[1]: f32 3*0 30*2.5 7*0
import slipring.language as pl


@pl.jit
def rows(x: pl.Tensor[[5, 8], pl.FP32], out: pl.Out[pl.Tensor[[5, 8], pl.FP32]]):
    for i in pl.range(0, x.shape[0], 4):
        t = x[i : i + 4, :]
        low = pl.where(t < 9.0, -1.0, t)
        out[i : i + 4, :] = pl.where(low > 20.0, 20.0, low)


@pl.jit
def columns(x: pl.Tensor[[4, 8], pl.FP32], out: pl.Out[pl.Tensor[[4, 8], pl.FP32]]):
    number = pl.arange(0, [1, 8], pl.INT32)
    out[:, :] = pl.sel(number < 3, x[:, :], 7.0)


@pl.jit
def flags(x: pl.Tensor[[5, 8], pl.FP32], out: pl.Out[pl.Tensor[[5, 8], pl.FP32]]):
    for i in pl.range(0, x.shape[0], 4):
        t = x[i : i + 4, :]
        out[i : i + 4, :] = pl.sel((t > 2.0) & (t < 33.0), 2.5, 0.0)
