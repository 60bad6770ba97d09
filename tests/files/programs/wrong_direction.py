# A kernel that writes what its signature calls an input: no edge follows from it, and the reader after it races.
#
# args: full:f32[32x32]=2.0 zeros:f32[32x32] zeros:f32[32x32]
# platforms: a5, a2a3
# test: run %s
# exit: 1
# check: error[wrong-direction]: `scale` writes `x`, which its signature calls an input
# check: declare it `pl.InOut[…]`, or `pl.Out[…]` if `scale` does not read it
# check: error[task-race]: `scale` and `copy` touch the same bytes of `x`, and nothing orders them
# check: `scale` writes `x`: declare it `pl.Out[…]` or `pl.InOut[…]`
import pypto.language as pl


@pl.jit.incore
def scale(x: pl.Tensor[[32, 32], pl.FP32], out: pl.Out[pl.Tensor[[32, 32], pl.FP32]]):
    t = pl.mul(pl.load(x, [0, 0], [32, 32]), 3.0)
    pl.store(t, [0, 0], x)
    pl.store(t, [0, 0], out)


@pl.jit.incore
def copy(x: pl.Tensor[[32, 32], pl.FP32], out: pl.Out[pl.Tensor[[32, 32], pl.FP32]]):
    pl.store(pl.load(x, [0, 0], [32, 32]), [0, 0], out)


@pl.jit
def main(
    x: pl.Tensor[[32, 32], pl.FP32],
    a: pl.Out[pl.Tensor[[32, 32], pl.FP32]],
    b: pl.Out[pl.Tensor[[32, 32], pl.FP32]],
):
    # error: wrong-direction `scale` writes `x`, which its signature calls an input
    scale(x, a)
    # error: task-race `scale` and `copy` touch the same bytes of `x`
    copy(x, b)
