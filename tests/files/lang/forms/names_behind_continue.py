# Names that a loop with `continue`, or one that counts while something holds, binds first, and that are read after it.
# platforms: a5, a2a3
# test: run %s --verify --arg iota:f32[8x16] --arg 3:index --arg zeros:f32[8x16] --arg zeros:f32[1x16] --arg zeros:f32[8x16]
# check: verify clean
# out[2]: f32 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31 32 33 34 35 36 37 38 39 40 41 42 43 44 45 46 47 48 49 50 51 52 53 54 55 56 57 58 59 60 61 62 63 64 65 66 67 68 69 70 71 72 73 74 75 76 77 78 79 80 81 82 83 84 85 86 87 88 89 90 91 92 93 94 95 96 97 98 99 100 101 102 103 104 105 106 107 108 109 110 111 112 16*0
# out[3]: f32 194 196 198 200 202 204 206 208 210 212 214 216 218 220 222 224
# out[4]: f32 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31 32 33 34 35 36 37 38 39 40 41 42 43 44 45 46 47 80*0
import pypto.language as pl


@pl.jit.incore
def kernel(
    x: pl.Tensor[[8, 16], pl.FP32],
    n: pl.Scalar[pl.INDEX],
    out: pl.InOut[pl.Tensor[[8, 16], pl.FP32]],
    last: pl.Out[pl.Tensor[[1, 16], pl.FP32]],
    some: pl.InOut[pl.Tensor[[8, 16], pl.FP32]],
):
    for j in pl.range(8):
        if j == 7:
            continue
        y = pl.add(pl.load(x, [j, 0], [1, 16]), 1.0)
        out[j : j + 1, :] = y
    last[:] = y * 2.0
    i: pl.Scalar[pl.INDEX] = 0
    while i < n:
        result = pl.store(pl.load(x, [i, 0], [1, 16]), [i, 0], some)
        i = i + 1
    return result
