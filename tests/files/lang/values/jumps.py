# `break`, `continue`, `else` of a loop, and `return` before the end.
#
# args: 3:i32 full:f32[1x8]=1 zeros:f32[8x8]
# test: run %s --func loops --verify
# check: verify clean
# out[2]: f32 8*3 8*13 8*1 8*4 8*5 8*105 8*0 8*0
# test: run %s --func loops --arch a2a3 --arg 9:i32 --arg full:f32[1x8]=1 --arg zeros:f32[8x8] --verify
# check: verify clean
# out[2]: f32 8*6 8*13 8*1 8*4 8*5 8*36 8*0 8*0
# test: run %s --func returns --arg 3:i32 --arg full:f32[1x8]=1 --arg zeros:f32[8x8] --verify
# check: verify clean
# out[2]: f32 8*1 8*10 8*4 8*7 8*0 8*0 8*0 8*0
# test: run %s --func returns --arg 9:i32 --arg full:f32[1x8]=1 --arg zeros:f32[8x8] --verify
# check: verify clean
# out[2]: f32 8*1 8*2 8*2 8*6 8*9 8*0 8*0 8*0
import slipring.language as pl


@pl.incore
def loops(
    n: pl.Scalar[pl.INT32],
    one: pl.Tensor[[1, 8], pl.FP32],
    out: pl.InOut[pl.Tensor[[8, 8], pl.FP32]],
):
    x = pl.load(one, [0, 0], [1, 8])
    # A loop that ends at n, or at its sixth iteration.
    t = pl.full([1, 8], pl.FP32, 0.0)
    for i in pl.range(6):
        if i == n:
            break
        t = t + x
    out[0:1, :] = t
    # Odd iterations are left out, after what all do.
    u = pl.full([1, 8], pl.FP32, 0.0)
    for i in pl.range(10):
        u = u + x
        if i % 2 == 1:
            continue
        if i > 6:
            continue
        elif i == 2:
            pass
        u = pl.add(u, 0.75)
    out[1:2, :] = u
    # What is decided when the kernel is compiled.
    for i in pl.unroll(4):
        if i == 1:
            continue
        if i == 2:
            break
        out[2:3, :] = x
    # A break out of the inner loop only.
    v = pl.full([1, 8], pl.FP32, 0.0)
    for i in pl.range(2):
        for j in pl.range(4):
            if j == 2:
                break
            v = v + x
    out[3:4, :] = v
    # A flag for what follows two arms that both may jump.
    w = pl.full([1, 8], pl.FP32, 0.0)
    for i in pl.range(6):
        if i < 3:
            w = w + x
            if i == 1:
                continue
        else:
            if i == 4:
                continue
        w = pl.add(w, 0.5)
    out[4:5, :] = w
    # `else` runs where no `break` did.
    z = pl.full([1, 8], pl.FP32, 0.0)
    for i in pl.range(8):
        if i == n:
            z = pl.add(z, 100.0)
            break
        z = z + x
    else:
        for j in pl.range(4):
            z = pl.add(z, 7.0)
    if n == 3:
        z = pl.add(z, 2.0)
    out[5:6, :] = z


@pl.inline
def clamped(n, x):
    if n < 4:
        return pl.mul(x, 10.0)
    return pl.mul(x, 2.0)


@pl.inline
def first_above(x, n):
    total = x
    for i in pl.range(8):
        if i > n:
            return total
        total = total + x
    return total


@pl.incore
def returns(
    n: pl.Scalar[pl.INT32],
    one: pl.Tensor[[1, 8], pl.FP32],
    out: pl.InOut[pl.Tensor[[8, 8], pl.FP32]],
):
    x = pl.load(one, [0, 0], [1, 8])
    out[0:1, :] = x
    out[1:2, :] = clamped(n, x)
    if n < 5:
        out[2:3, :] = x + x + x + x
        if n == 3:
            out[3:4, :] = pl.mul(x, 7.0)
            return out
        out[3:4, :] = x
        return out
    out[2:3, :] = x + x
    for i in pl.range(10):
        if i > 5:
            out[3:4, :] = pl.mul(x, 6.0)
        if i == 7:
            out[4:5, :] = first_above(x, n)
            return out
        out[4:5, :] = x
    out[5:6, :] = x
    return out
