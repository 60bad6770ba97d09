# A parameter that is a constant of a program: its default in scopes and what it hands to kernels' own.
#
# args: iota:f32[4x8] zeros:f32[4x8]
# platforms: a5, a2a3
# test: run %s --verify
# check: 4 tasks
# check: verify clean
# out[1]: f32 0 3 6 9 12 15 18 21 24 27 30 33 36 39 42 45 48 51 54 57 60 63 66 69 72 75 78 81 84 87 90 93
import slipring.language as pl


@pl.jit.incore
def scaled(
    x: pl.Tensor[[4, 8], pl.FP32],
    by: pl.constexpr,
    out: pl.InOut[pl.Tensor[[4, 8], pl.FP32]],
    i: pl.Scalar[pl.INDEX],
    ROWS: pl.constexpr = 1,
):
    out[i : i + ROWS, :] = x[i : i + ROWS, :] * by
    return out


@pl.jit
def f(x: pl.Tensor[[4, 8], pl.FP32], out: pl.Out[pl.Tensor[[4, 8], pl.FP32]], T: pl.constexpr = 2):
    for i in pl.range(0, 4, T):
        with pl.at(level=pl.Level.CORE_GROUP):
            out[i : i + T, :] = x[i : i + T, :] * 2.0
    for i in pl.range(0, 4, T):
        out = scaled(x, 3.0, out, i, ROWS=T)
