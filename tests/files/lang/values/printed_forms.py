# Forms as the public language prints them: a bit as a number of type BOOL, an empty list for no valid shape.
#
# platforms: a5, a2a3
# args: x=iota:f32[4x8] y=zeros:f32[2x8] z=zeros:f32[2x8]
# test: run %s --verify
# out[1]: f32 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23
# out[2]: f32 32 34 36 38 40 42 44 46 48 50 52 54 56 58 60 62
import slipring.language as pl


@pl.jit
def main(x: pl.Tensor[[4, 8], pl.FP32], y: pl.Out[pl.Tensor[[2, 8], pl.FP32]], z: pl.Out[pl.Tensor[[2, 8], pl.FP32]]) -> None:
    whole = pl.load(x, [0, 0], [4, 8])
    rows = pl.slice(whole, [2, 8], [1, 0], [])
    pl.store(rows, [0, 0], y)
    twice = pl.const(1, pl.BOOL)
    last = pl.load(pl.slice(x, [2, 8], [2, 0], []), [0, 0], [2, 8])
    if twice:
        pl.store(pl.mul(last, 2.0), [0, 0], z)
    else:
        pl.store(last, [0, 0], z)
