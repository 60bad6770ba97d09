# Loops with a condition.
#
# args: 11:i32 iota:i32[8] full:f32[1x8]=1 zeros:f32[4x8] zeros:i32[8]
# test: run %s --func conditions --verify
# check: verify clean
# out[3]: f32 8*4 8*32 8*3 8*0
# out[4]: i32 14 93 4 3 10 55 0 0
# test: run %s --func conditions --arch a2a3 --arg 0:i32 --arg iota:i32[8] --arg full:f32[1x8]=1 --arg zeros:f32[4x8] --arg zeros:i32[8] --verify
# check: verify clean
# out[3]: f32 8*4 8*1 8*3 8*0
# out[4]: i32 0 0 4 3 10 55 0 0
import slipring.language as pl


@pl.incore
def conditions(
    n: pl.Scalar[pl.INT32],
    lines: pl.Tensor[[8], pl.INT32],
    one: pl.Tensor[[1, 8], pl.FP32],
    out: pl.InOut[pl.Tensor[[4, 8], pl.FP32]],
    numbers: pl.InOut[pl.Tensor[[8], pl.INT32]],
):
    x = pl.load(one, [0, 0], [1, 8])
    # A tile and a counter.
    t = x
    i = 0
    while i < 3:
        t = t + x
        i += 1
    out[0:1, :] = t
    # Collatz steps from n, and the largest number on the way is not needed: a sum instead.
    steps = 0
    total = 0
    left = n
    while left > 1:
        if left % 2 == 0:
            left = left // 2
        else:
            left = 3 * left + 1
        steps += 1
        total += left % 10 + 1
    numbers[0] = steps
    numbers[1] = total + steps * 2 + 3 if n == 11 else total
    # Five doublings, unless n is 0.
    u = x
    k = 0
    while k < 5 and n > 0:
        u = u + u
        k += 1
    out[1:2, :] = u
    # What is asked after a break would lie outside.
    at = 0
    while pl.read(lines, [at]) < 100:
        if at == 7:
            break
        at += 1
        if pl.read(lines, [at]) == 4:
            break
    numbers[2] = at
    # Without a condition.
    iterations = 0
    while True:
        iterations += 1
        if iterations == 3:
            break
    numbers[3] = iterations
    # The spelling that says what it carries.
    for (c, s) in pl.while_(init_values=(0, 0)):
        pl.cond(c < 10)
        c_next, s_next = pl.yield_(c + 1, s + c + 1)
    numbers[4] = c_next
    numbers[5] = s_next
    for (v, r) in pl.while_(init_values=(x, 0)):
        pl.cond(r < 2)
        v_next, r_next = pl.yield_(pl.add(v, 1.0), r + 1)
    out[2:3, :] = v_next
