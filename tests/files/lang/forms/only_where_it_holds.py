# What is behind `and` and `or`, in an arm of `a if c else b` and after `a < b` is done only where it is asked for: loads that a
# condition guards, divisions, what a function stores, and tiles.
#
# args: full:f32[16x64]=1 99:i32 zeros:f32[16x64] zeros:f32[16x64]
# platforms: a5, a2a3
# test: run %s
# test: run %s --verify
# out[2]: f32 1014.5 1014.5 …
# out[3]: f32 10 10 …
# exit: 0
import slipring.language as pl


@pl.inline
def stored(x, y):
    y[:, :] = x
    return 3


@pl.incore
def f(
    x: pl.Tensor[[16, 64], pl.FP32],
    n: pl.Scalar[pl.INT32],
    y: pl.Out[pl.Tensor[[16, 64], pl.FP32]],
    z: pl.Out[pl.Tensor[[16, 64], pl.FP32]],
):
    t = pl.load(x, [0, 0], [16, 64])
    z[:, :] = t + 9.0
    # 99 is no row: 0.5.
    read = pl.read(x, [n, 0]) if n < 16 else 0.5
    # 2: nothing is divided by 0.
    total = 7 // (n - 99) if n != 99 else 2
    # Not taken, and taken: 1002.
    if n < 16 and pl.read(x, [n, 0]) > 0.0:
        total = total + 100
    if n >= 16 or pl.read(x, [n, 0]) > 0.0:
        total = total + 1000
    if 0 < n < 16 and 0.0 < pl.read(x, [n, 0]) < 2.0:
        total = total + 10000
    # 1, and `z` stays what it is.
    total = total + (stored(t, z) if n < 16 else 1)
    # 1 + 10.
    u = t * 2.0 if n < 16 else t
    v = t[0:8, :] + 9.0 if n > 16 else t[8:16, :]
    y[0:8, :] = u[0:8, :] + v + read + total
