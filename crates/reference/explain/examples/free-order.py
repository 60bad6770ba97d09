# slipring check FILE
import slipring.language as pl
@pl.incore
def twice(x: pl.Tensor[[16, 16], pl.FP32], y: pl.Out[pl.Tensor[[16, 16], pl.FP32]]):
    for i in pl.range(2):
        TPUSH(pl.matmul(x, x))
    a = TPOP()
    b = TPOP()
    TFREE(b)
