# Types that the file names stand for what they are where they are bound once, in functions, methods and results.
# test: run %s --arch a5 --verify
# check: race clean
# test: run %s --arch a2a3 --verify
# check: race clean
# out[1]: f32 2048*7
# args: full:f32[32x64]=3 zeros:f32[32x64] 1:i32
import slipring.language as pl

N = 32
T = pl.Tensor[[N, 64], pl.FP32]
O = pl.Out[T]
S = pl.Scalar[pl.INT32]
W = pl.Tile[[N, 64], pl.FP32]


@pl.incore
def k(a: T, out: O, n: S):
    t: W = a[:, :] * 2.0
    out[:, :] = t + 1.0
