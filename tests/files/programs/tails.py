# Parts side by side of a program's loops end where the tensor does, as those of a kernel's own loops: rows and columns.
#
# args: iota:f32[3x20] zeros:f32[3x20]
# platforms: a5, a2a3
# test: run %s --verify
# check: 6 tasks
# check: verify clean
# out[1]: f32 0 2 4 6 8 10 12 14 16 18 20 22 24 26 28 30 32 34 36 38 40 42 44 46 48 50 52 54 56 58 60 62 64 66 68 70 72 74 76 78 80 82 84 86 88 90 92 94 96 98 100 102 104 106 108 110 112 114 116 118
import slipring.language as pl


@pl.jit
def f(x: pl.Tensor[[3, 20], pl.FP32], out: pl.Out[pl.Tensor[[3, 20], pl.FP32]]):
    for i in pl.parallel(0, 3, 2):
        for j in pl.parallel(0, 20, 8):
            with pl.at(level=pl.Level.CORE_GROUP):
                out[i : i + 2, j : j + 8] = x[i : i + 2, j : j + 8] * 2.0
