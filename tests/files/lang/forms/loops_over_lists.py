# Loops over what is listed are written out: tuples, lists of the file, `enumerate`, `zip`, `reversed`, tiles, and jumps in them.
# platforms: a5, a2a3
# test: run %s --verify --arg iota:f32[16x8] --arg zeros:f32[16x8] --arg zeros:f32[16x8]
# check: verify clean
# out[1]: f32 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31 32 33 34 35 36 37 38 39 40 41 84 86 88 90 92 94 96 98 100 102 104 106 108 110 112 114 116 118 120 122 124 126 128 130 132 134 136 138 140 142 144 146 74 75 76 77 78 79 80 81 82 83 84 85 86 87 88 89 90 91 92 93 94 95 96 97 98 99 100 101 102 103 104 105 212 214 216 218 220 222 224 226 228 230 232 234 236 238 240 242 244 246 248 250 252 254 256 258 260 262 264 266 268 270 272 274
# out[2]: f32 0 2 4 6 8 10 12 14 16 18 20 22 24 26 28 30 32 34 36 38 40 42 44 46 48 50 52 54 56 58 60 62 64 66 68 70 72 74 76 78 80 82 84 86 88 90 92 94 96 98 100 102 104 106 108 110 112 114 116 118 120 122 124 126 64 65 66 67 68 69 70 71 72 73 74 75 76 77 78 79 80 81 82 83 84 85 86 87 88 89 90 91 92 93 94 95 96 97 98 99 100 101 102 103 104 105 106 107 108 109 110 111 112 113 114 115 116 117 118 119 120 121 122 123 124 125 126 127
import slipring.language as pl

SCALES = [1.0, 2.0]


@pl.incore
def k(
    x: pl.Tensor[[16, 8], pl.FP32],
    y: pl.Out[pl.Tensor[[16, 8], pl.FP32]],
    z: pl.Out[pl.Tensor[[16, 8], pl.FP32]],
):
    for half in (0, 1):
        for i, (scale, more) in enumerate(zip(SCALES, (10, 20)), start=2 * half):
            y[4 * i : 4 * i + 4, :] = x[4 * i : 4 * i + 4, :] * scale + more
    top, bottom = x[0:8, :] * 1.0, x[8:16, :] * 1.0
    for i, tile in reversed([(1, bottom), (0, top)]):
        z[8 * i : 8 * i + 8, :] = tile
    # Three numbers as far apart as 64 bits allow: nothing on the way to them overflows.
    for i, far in enumerate(range(-9223372036854775808, 9223372036854775807, 6148914691236517205)):
        if far > 4000000000000000000:
            z[0:8, :] = top * 3.0
    for scale in (2.0, 3.0, 4.0):
        if scale > 2.5:
            break
        z[0:8, :] = top * scale
