# slipring check FILE
import pypto.language as pl
@pl.jit
def changed(x: pl.Tensor[[1, 16], pl.INT32], out: pl.Out[pl.Tensor[[1, 16], pl.INT32]]):
        pair = (pl.read(x, [0, 0]), pl.read(x, [0, 1]))
        pair[0] = 3
