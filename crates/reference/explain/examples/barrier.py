# slipring check FILE
import slipring.language as pl
@pl.incore
def f(x: pl.Tensor[[4, 8], pl.FP32], out: pl.Out[pl.Tensor[[4, 8], pl.FP32]]):
    for i in pl.spmd(4):
        t = pl.load(x, [i, 0], [1, 8])
        pl.system.syncall()
        out = pl.store(t, [i, 0], out)
