# `abs` and `**` of numbers: of constants, and of the run.
#
# platforms: a5, a2a3
# test: run %s --verify --arg iota:i32[8] --arg iota:f32[8] --arg zeros:i32[8] --arg zeros:f32[8]
# out[2]: i32 4 9 27 6 3 9 3 0
# out[3]: f32 0.5 9 27 1.5 4*0
import slipring.language as pl


@pl.incore
def kernel(
    x: pl.Tensor[[8], pl.INT32],
    f: pl.Tensor[[8], pl.FP32],
    y: pl.InOut[pl.Tensor[[8], pl.INT32]],
    g: pl.InOut[pl.Tensor[[8], pl.FP32]],
):
    n = pl.read(x, [3])
    y[0] = abs(n - 7)
    y[1] = n**2
    y[2] = n**3
    y[3] = abs(-2) * n
    y[4] = abs(n)
    y[5] = 3**2
    for i in pl.range(2):
        y[6] = abs(i - 4)
    h = pl.read(f, [3])
    g[0] = abs(2.5 - h)
    g[1] = h**2
    g[2] = h**3
    g[3] = abs(-1.5)
