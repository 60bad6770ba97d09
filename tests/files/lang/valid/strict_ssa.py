# A loop that is left early assigns no name of the author's twice.
#
# test: check %s
import slipring.language as pl


@pl.function(strict_ssa=True)
def left(x: pl.Tensor[[4, 8], pl.FP32], y: pl.Out[pl.Tensor[[4, 8], pl.FP32]], n: pl.Scalar[pl.INT32]):
    t = pl.load(x, [0, 0], [4, 8])
    for i in pl.range(4):
        if i > n:
            break
        u = t + 1.0
        pl.store(u, [0, 0], y)
