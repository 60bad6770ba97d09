# slipring check FILE
import slipring.language as pl
@pl.incore
def gather_of_a_number(a: pl.Tensor[[64, 64], pl.FP16], y: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
    for lane in pl.split_aiv(2, mode=pl.SplitMode.UP_DOWN):
        half = pl.load(a, [lane * 32, 0], [32, 64])
        whole = pl.aic_gather(half)
    y[:] = pl.matmul(whole, a)
