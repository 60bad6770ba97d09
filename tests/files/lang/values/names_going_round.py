# More names than a loop is looked at anew for, which each iteration moves on by one: how one of them is carried
# decides how all are.
# platforms: a5, a2a3
# test: run %s --func windows --verify --arg iota:f32[2x8] --arg 39:index --arg zeros:f32[1x8]
# check: verify clean
# out[2]: f32 8 9 10 11 12 13 14 15
# test: run %s --func windows --verify --arg iota:f32[2x8] --arg 38:index --arg zeros:f32[1x8]
# check: verify clean
# out[2]: f32 0 1 2 3 4 5 6 7
# test: run %s --func numbers --verify --arg 40:index --arg zeros:f32[1x8]
# check: verify clean
# out[1]: f32 0.5 7*0
# test: run %s --func numbers --verify --arg 39:index --arg zeros:f32[1x8]
# check: verify clean
# out[1]: f32 8*0
import slipring.language as pl


@pl.incore
def windows(x: pl.Tensor[[2, 8], pl.FP32], n: pl.Scalar[pl.INDEX], out: pl.Out[pl.Tensor[[1, 8], pl.FP32]]):
    a0 = a1 = a2 = a3 = a4 = a5 = a6 = a7 = a8 = a9 = a10 = a11 = a12 = a13 = x[0:1, :]
    a14 = a15 = a16 = a17 = a18 = a19 = a20 = a21 = a22 = a23 = a24 = a25 = a26 = x[0:1, :]
    a27 = a28 = a29 = a30 = a31 = a32 = a33 = a34 = a35 = a36 = a37 = a38 = x[0:1, :]
    a39 = x[1:2, :]
    for _ in pl.range(n):
        (
            a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13, a14, a15, a16, a17, a18, a19,
            a20, a21, a22, a23, a24, a25, a26, a27, a28, a29, a30, a31, a32, a33, a34, a35, a36, a37,
            a38, a39,
        ) = (
            a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13, a14, a15, a16, a17, a18, a19, a20,
            a21, a22, a23, a24, a25, a26, a27, a28, a29, a30, a31, a32, a33, a34, a35, a36, a37, a38,
            a39, a0,
        )
    out[:] = pl.load(a0, [0, 0], [1, 8])


@pl.incore
def numbers(n: pl.Scalar[pl.INDEX], out: pl.InOut[pl.Tensor[[1, 8], pl.FP32]]):
    b0 = b1 = b2 = b3 = b4 = b5 = b6 = b7 = b8 = b9 = b10 = b11 = b12 = b13 = 0
    b14 = b15 = b16 = b17 = b18 = b19 = b20 = b21 = b22 = b23 = b24 = b25 = b26 = b27 = 0
    b28 = b29 = b30 = b31 = b32 = b33 = b34 = b35 = b36 = b37 = b38 = b39 = 0
    for _ in pl.range(n):
        (
            b0, b1, b2, b3, b4, b5, b6, b7, b8, b9, b10, b11, b12, b13, b14, b15, b16, b17, b18, b19,
            b20, b21, b22, b23, b24, b25, b26, b27, b28, b29, b30, b31, b32, b33, b34, b35, b36, b37,
            b38, b39,
        ) = (
            b1, b2, b3, b4, b5, b6, b7, b8, b9, b10, b11, b12, b13, b14, b15, b16, b17, b18, b19, b20,
            b21, b22, b23, b24, b25, b26, b27, b28, b29, b30, b31, b32, b33, b34, b35, b36, b37, b38,
            b39, 0.5,
        )
    pl.write(out, [0, 0], b0)
