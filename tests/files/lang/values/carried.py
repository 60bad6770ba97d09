# What loops carry: tiles, scalars, several at once, exchanged, and through two loops.
#
# args: full:f32[1x8]=1 zeros:f32[7x8] zeros:i32[8]
# test: run %s --verify
# check: verify clean
# out[1]: f32 8*32 8*89 8*2 8*1 8*2 8*1 8*12
# out[2]: i32 1024 55 3 0 0 0 0 0
# test: run %s --arch a2a3 --verify
# check: verify clean
# out[1]: f32 8*32 8*89 8*2 8*1 8*2 8*1 8*12
# out[2]: i32 1024 55 3 0 0 0 0 0
import slipring.language as pl


@pl.incore
def f(
    one: pl.Tensor[[1, 8], pl.FP32],
    tiles: pl.Out[pl.Tensor[[7, 8], pl.FP32]],
    numbers: pl.Out[pl.Tensor[[8], pl.INT32]],
):
    x = pl.load(one, [0, 0], [1, 8])
    # Doubled five times.
    t = x
    for i in pl.range(5):
        t = t + t
    tiles[0:1, :] = t
    # Fibonacci: both names are bound anew from the old values.
    a, b = x, x
    for i in pl.range(9):
        a, b = b, a + b
    tiles[1:2, :] = b
    # Exchanged three times.
    p, q = x, x + x
    for i in pl.range(3):
        p, q = q, p
    tiles[2:3, :] = p
    tiles[3:4, :] = q
    # The other order of copies.
    r, s = x, x + x
    for i in pl.range(3):
        s, r = r, s
    tiles[4:5, :] = r
    tiles[5:6, :] = s
    # Through two loops: 3 times 4 ones.
    total = x - x
    for i in pl.range(3):
        for j in pl.range(4):
            total += x
    tiles[6:7, :] = total
    n = 1
    sum = 0
    for i in pl.range(1, 11):
        n = n * 2
        sum += i
    pl.write(numbers, [0], n)
    pl.write(numbers, [1], sum)
    u, v = 1, 3
    for i in pl.range(5):
        u, v = v, u
    pl.write(numbers, [2], u)
