# A barrier of both kinds of core in a kernel that runs on one: hardware would wait forever.
#
# platforms: a5, a2a3
# test: run %s
# exit: 2
import slipring.language as pl


@pl.incore
def f(x: pl.Tensor[[4, 8], pl.FP32], out: pl.Out[pl.Tensor[[4, 8], pl.FP32]]):
    for i in pl.spmd(4):
        t = pl.load(x, [i, 0], [1, 8])
        # error: barrier this barrier waits for cube cores, and the kernel runs on none
        pl.system.syncall()
        out = pl.store(t, [i, 0], out)
