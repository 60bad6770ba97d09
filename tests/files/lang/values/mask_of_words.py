# A mask is a row of bits for each row, in integers of any width: bit j of row i of [2, 16] elements is bit j mod 16 of the first
# word of 16 bits, bit j of the first of 32. 12345 is 0b11000000111001, so 1 stands where the columns 0, 3, 4, 5, 12 and 13 are.
#
# args: iota:f32[2x16] full:i16[2x16]=12345 full:i32[2x8]=12345 zeros:f32[2x16] zeros:f32[2x16] zeros:f32[2x16]
# platforms: a5, a2a3
# test: run %s --verify
# check: verify clean
# out[3]: f32 0 -3 -3 3 4 5 -3 -3 -3 -3 -3 -3 12 13 -3 -3 16 -3 -3 19 20 21 -3 -3 -3 -3 -3 -3 28 29 -3 -3
# out[4]: f32 0 -3 -3 3 4 5 -3 -3 -3 -3 -3 -3 12 13 -3 -3 16 -3 -3 19 20 21 -3 -3 -3 -3 -3 -3 28 29 -3 -3
import slipring.language as pl


@pl.incore
def f(
    x: pl.Tensor[[2, 16], pl.FP32],
    words: pl.Tensor[[2, 16], pl.INT16],
    wide: pl.Tensor[[2, 8], pl.INT32],
    first: pl.Out[pl.Tensor[[2, 16], pl.FP32]],
    second: pl.Out[pl.Tensor[[2, 16], pl.FP32]],
    third: pl.Out[pl.Tensor[[2, 16], pl.FP32]],
):
    s = pl.load(x, [0, 0], [2, 16])
    m = pl.load(words, [0, 0], [2, 16])
    w = pl.load(wide, [0, 0], [2, 8])
    tmp = pl.create_tile([1, 32], dtype=pl.UINT8)
    first[:] = pl.sels(m, s, tmp, -3.0)
    second[:] = pl.sels(w, s, -3.0)
    third[:] = s
