# A loop with `init_values`: what it carries is named in its head and given on by `pl.yield_`.
#
# args: full:f32[1x8]=3 zeros:f32[2x8] zeros:i32[8]
# test: run %s --verify
# check: verify clean
# out[1]: f32 8*48 8*45
# out[2]: i32 16 10 6*0
import slipring.language as pl


@pl.incore
def f(
    x: pl.Tensor[[1, 8], pl.FP32],
    y: pl.Out[pl.Tensor[[2, 8], pl.FP32]],
    n: pl.Out[pl.Tensor[[8], pl.INT32]],
):
    first = pl.load(x, [0, 0], [1, 8])
    zero = first - first
    for i, (a, total) in pl.range(4, init_values=(first, zero)):
        last, sum = pl.yield_(a + a, total + a)
    y[0:1, :] = last
    y[1:2, :] = sum
    for i, (p, q) in pl.range(1, 5, init_values=(1, 0)):
        power, count = pl.yield_(p * 2, q + i)
    n[0] = power
    n[1] = count
