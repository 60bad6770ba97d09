# A constant of a kernel without a default has the value that `--set` gives.
#
# platforms: a5, a2a3
# test: check %s
# exit: 2
# test: run %s --set T=8 --set U=true --arg iota:f32[4x64] --arg zeros:f32[4x64]
# out[1]: f32 8*3 248*0
import slipring.language as pl


@pl.jit
def bare(
    x: pl.Tensor[[4, 64], pl.FP32],
    y: pl.InOut[pl.Tensor[[4, 64], pl.FP32]],
    # error: parameter `T` is a constant without a value
    T: pl.constexpr,
    U: pl.constexpr = False,
):
    y[0:1, 0:T] = pl.full([1, T], pl.FP32, 3.0 if U else 1.0)
