# slipring check FILE
import slipring.language as pl
@pl.incore
def other(x: pl.Tensor[[16, 16], pl.FP32], y: pl.Out[pl.Tensor[[16, 16], pl.FP32]]):
    TPUSH(pl.matmul(x, x))
    a = TPOP()
    b = a * 2.0
    TFREE(b)
