# `~`, `abs` and `**` of numbers: of constants, and of the run.
#
# platforms: a5, a2a3
# test: run %s --verify --arg iota:i32[8] --arg iota:ui32[8] --arg iota:f32[8] --arg zeros:i32[16] --arg zeros:ui32[4] --arg zeros:f32[4]
# out[3]: i32 -4 4 9 27 -6 3 9 -1 7 2 6*0
# out[4]: ui32 4294967292 3 81 0
# out[5]: f32 0.5 9 0 0
import slipring.language as pl


@pl.incore
def kernel(
    x: pl.Tensor[[8], pl.INT32],
    u: pl.Tensor[[8], pl.UINT32],
    f: pl.Tensor[[8], pl.FP32],
    y: pl.InOut[pl.Tensor[[16], pl.INT32]],
    v: pl.InOut[pl.Tensor[[4], pl.UINT32]],
    g: pl.InOut[pl.Tensor[[4], pl.FP32]],
):
    n = pl.read(x, [3])
    y[0] = ~n
    y[1] = abs(n - 7)
    y[2] = n**2
    y[3] = n**3
    y[4] = ~5
    y[5] = abs(-3)
    y[6] = 3**2
    y[7] = ~(n - n)
    y[8] = abs(7)
    for i in pl.range(3):
        y[9] = abs(i - 4)
    m = pl.read(u, [3])
    v[0] = ~m
    v[1] = abs(m)
    v[2] = m**4
    h = pl.read(f, [3])
    g[0] = abs(2.5 - h)
    g[1] = h**2
