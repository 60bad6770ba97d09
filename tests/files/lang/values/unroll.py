# An unrolled loop is its body many times, with its counter known.
#
# args: iota:f32[4x8] zeros:f32[4x8]
# test: run %s --verify
# check: verify clean
# out[1]: f32 24 25 26 27 28 29 30 31  32 34 36 38 40 42 44 46  24 27 30 33 36 39 42 45  0 4 8 12 16 20 24 28
import slipring.language as pl

ROWS = 4


@pl.incore
def f(a: pl.Tensor[[ROWS, 8], pl.FP32], c: pl.Out[pl.Tensor[[ROWS, 8], pl.FP32]]):
    for i in pl.unroll(ROWS):
        last = ROWS - 1 - i
        if i % 2 == 0:
            c[i : i + 1, :] = a[last : last + 1, :] * float(i + 1)
        else:
            c[i : i + 1, :] = (i + 1) * a[last : last + 1, :]
