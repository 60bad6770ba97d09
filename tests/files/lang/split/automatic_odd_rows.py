# The automatic split halves what crosses, as the explicit one does.
#
# test: check %s
# exit: 2
import slipring.language as pl

@pl.jit
def f(
    a: pl.Tensor[[15, 32], pl.BF16],
    b: pl.Tensor[[32, 32], pl.BF16],
    out: pl.Out[pl.Tensor[[15, 32], pl.FP32]],
):
    with pl.at(level=pl.Level.CORE_GROUP, optimizations=[pl.split(pl.SplitMode.UP_DOWN)]):
        s = pl.matmul(a, b)
        # error: split-odd 15 rows cannot be divided evenly
        out[:] = pl.exp(s)
