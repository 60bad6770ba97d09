# Loops that count down, and names that are bound in a loop and read after it.
#
# args: 3:i32 iota:f32[8x8] zeros:f32[8x8] zeros:i32[8]
# platforms: a5, a2a3
# test: run %s --verify
# check: verify clean
# out[2]: f32 56 57 58 59 60 61 62 63 40 41 42 43 44 45 46 47 48 49 50 51 52 53 54 55 8*0 40 41 42 43 44 45 46 47 112 114 116 118 120 122 124 126 8*0 8*7
# out[3]: i32 1 210 4 3 6 0 9 0
import slipring.language as pl


@pl.incore
def down(
    n: pl.Scalar[pl.INT32],
    x: pl.Tensor[[8, 8], pl.FP32],
    out: pl.InOut[pl.Tensor[[8, 8], pl.FP32]],
    numbers: pl.InOut[pl.Tensor[[8], pl.INT32]],
):
    # The last line to the first place, and so on; line 5 is written last.
    for i in pl.range(7, 4, -1):
        out[7 - i : 8 - i, :] = x[i : i + 1, :]
    out[1:2, :] = x[5:6, :]
    out[2:3, :] = x[6:7, :]
    # The counter has its last value.
    for i in pl.range(9, 0, -4):
        pass
    numbers[0] = i
    # Digits in the order of the iterations, from a number that is known only at run time.
    digits = 0
    for j in pl.range(n - 1, -1, -1):
        digits = digits * 10 + j
    numbers[1] = digits
    count = 0
    for j in pl.unroll(6, -2, -2):
        count += 1
    numbers[2] = count
    for j, (c,) in pl.range(n, 0, -1, init_values=(0,)):
        (c_next,) = pl.yield_(c + 1)
    numbers[3] = c_next
    # No iteration at all.
    for j in pl.range(0, n, -1):
        numbers[5] = 1
    # Bound in the loop, read after it: a window, a tile, numbers.
    for k in pl.range(6):
        line = x[k : k + 1, :]
        last = pl.load(x, [k + 2, 0], [1, 8])
        twice = pl.add(last, last)
        number = k + 1
        constant = 9
    out[4:5, :] = line
    out[5:6, :] = twice
    numbers[4] = number
    numbers[6] = constant
    for a in pl.range(2):
        for b in pl.range(n):
            seven = pl.full([1, 8], pl.FP32, 7.0)
        inner = pl.add(seven, 0.0)
    out[7:8, :] = inner
