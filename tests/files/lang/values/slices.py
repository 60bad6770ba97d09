# Windows of tensors and tiles: ranges, single rows, the rest of the dimensions, parts of tiles read and written.
#
# args: iota:f32[4x4x8] zeros:f32[8x8] zeros:f32[4x4x8]
# test: run %s --verify
# check: verify clean
# out[1]: f32 72 73 74 75 76 77 78 79  0 1 2 3 4 5 6 7  8 9 10 11 12 13 14 15  40 41 42 43 44 45 46 47  48 49 50 51 52 53 54 55  118 119 120 121 122 123 124 125  8*0  8*5
# out[2]: f32 64*0  96 97 98 99 100 101 102 103 104 105 106 107 108 109 110 111 112 113 114 115 116 117 118 119 120 121 122 123 124 125 126 127  0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31
import slipring.language as pl


@pl.incore
def f(
    a: pl.Tensor[[4, 4, 8], pl.FP32],
    b: pl.Out[pl.Tensor[[8, 8], pl.FP32]],
    c: pl.Out[pl.Tensor[[4, 4, 8], pl.FP32]],
):
    # A row of a plane.
    b[0, :] = a[2, 1, :]
    # Rows of a plane, by two ways of writing it.
    b[1:3, :] = a[0, 0:2, :]
    i = 1
    b[3:5, :] = pl.load(a[i], [1, 0], [2, 8])
    # A part of a tile, and a part of that.
    t = pl.load(a, [3, 0, 0], [1, 4, 8])
    row = pl.reshape(t, [4, 8])[2:4, :][1:2, :]
    b[5:6, :] = row - 2
    # A part of a tile is written.
    u = pl.full([2, 8], pl.FP32, 0.0)
    u[1:2, :] = pl.full([1, 8], pl.FP32, 5.0)
    b[6:8, :] = u
    # Whole planes, with the rest left out.
    for j in pl.range(2):
        c[3 - j, ...] = a[3 * j]
