# `pl.spmd`: the launch has as many blocks as the kernel asks for, and each does its part.
#
# args: iota:f32[6x8] zeros:f32[6x8] zeros:i32[6]
# test: run %s --verify
# check: 3 blocks
# check: verify clean
# out[1]: f32 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15  32 34 36 38 40 42 44 46 48 50 52 54 56 58 60 62  96 99 102 105 108 111 114 117 120 123 126 129 132 135 138 141
# out[2]: i32 3 4 5 0 0 0
# test: run %s --blocks 1 --verify
# check: 1 block
# out[1]: f32 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 32*0
import slipring.language as pl

BLOCKS, ROWS = 3, 2


@pl.incore
def f(
    a: pl.Tensor[[BLOCKS * ROWS, 8], pl.FP32],
    c: pl.Out[pl.Tensor[[BLOCKS * ROWS, 8], pl.FP32]],
    n: pl.Out[pl.Tensor[[6], pl.INT32]],
):
    for block in pl.spmd(BLOCKS):
        row = block * ROWS
        x = a[row : row + ROWS, :] * 1.0
        total = x
        for i in pl.range(block):
            total = total + x
        c[row : row + ROWS, :] = total
        pl.write(n, [block], block + pl.get_block_num())
