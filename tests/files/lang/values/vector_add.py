# The smallest kernel: two tensors added, one of them doubled.
#
# args: iota:f32[2x8] full:f32[2x8]=0.5 zeros:f32[2x8]
# test: run %s --arch a5 --verify
# check: AIV0
# check: race clean
# check: verify clean
# out[2]: f32 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16
# test: run %s --arch a2a3 --verify
# check: verify clean
# out[2]: f32 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16
import slipring.language as pl


@pl.incore
def add(
    a: pl.Tensor[[2, 8], pl.FP32],
    b: pl.Tensor[[2, 8], pl.FP32],
    c: pl.Out[pl.Tensor[[2, 8], pl.FP32]],
):
    x = pl.load(a, [0, 0], [2, 8])
    y = pl.load(b, [0, 0], [2, 8])
    pl.store(x + y * 2.0, [0, 0], c)
