# test: check %s
# exit: 2
import pypto.language as pl

M = pl.dynamic("M")


@pl.jit
def kernel(a: pl.Tensor[[4, 16], pl.FP32], c: pl.Out[pl.Tensor[[8, 16], pl.FP32]]):
    a.bind_dynamic(0, M)
    # error: shapes this extent is 8, and the name stands for 4 already
    c.bind_dynamic(0, M)
    with pl.at(level=pl.Level.CORE_GROUP):
        c[0:4, :] = pl.load(a, [0, 0], [4, 16]) + 1.0
    return c
