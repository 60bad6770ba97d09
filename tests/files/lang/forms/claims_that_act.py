# What the functions and methods of a claim do stays done, whether or not the claim is known to hold. A number that is changed in place
# of an element may come from a call, too.
#
# args: full:f32[4x8]=1 zeros:f32[4x8] zeros:f32[4x8]
# platforms: a5, a2a3
# test: run %s
# test: run %s --verify
# out[1]: f32 2 2 …
# out[2]: f32 4 4 4 4 4 4 4 4 2 2 2 2 2 2 2 2 4 …
# exit: 0
import slipring.language as pl


@pl.inline
def stored(x, y):
    y[:, :] = x + 1.0
    return 3


@pl.incore
def f(
    x: pl.Tensor[[4, 8], pl.FP32],
    y: pl.Out[pl.Tensor[[4, 8], pl.FP32]],
    z: pl.Out[pl.Tensor[[4, 8], pl.FP32]],
):
    t = pl.load(x, [0, 0], [4, 8])
    assert stored(t, y) == 3
    numbers = [2, 8, 1]
    assert numbers.pop() == 1
    # Of rows of 3 the second one becomes 1.
    u = t + numbers[0]
    u[numbers.pop() - 7] = t[0]
    z[:, :] = u + len(numbers)
