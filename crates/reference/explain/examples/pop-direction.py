# slipring check FILE
import slipring.language as pl
@pl.incore
def direction(x: pl.Tensor[[16, 16], pl.FP32], y: pl.Out[pl.Tensor[[16, 16], pl.FP32]]):
    TPUSH(pl.matmul(x, x))
    TPUSH(pl.exp(x))
    a = TPOP()
def space(x: pl.Tensor[[16, 16], pl.FP32], y: pl.Out[pl.Tensor[[16, 16], pl.FP32]]):
    TPUSH(pl.matmul(x, w))
