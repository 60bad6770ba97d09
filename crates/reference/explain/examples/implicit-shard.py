# slipring check FILE
import slipring.language as pl
@pl.incore
def whole(a: pl.Tensor[[64, 64], pl.FP16], y: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
    c = pl.matmul(a, a)
    for lane in pl.split_aiv(2, mode=pl.SplitMode.NONE):
        y[:] = pl.exp(c)
