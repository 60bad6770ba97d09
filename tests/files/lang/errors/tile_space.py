# Only products are accumulated onto.
#
# test: check %s
# exit: 2
import slipring.language as pl


@pl.incore
def f(x: pl.Tensor[[64, 64], pl.FP32], y: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
    acc = pl.full([64, 64], pl.FP32, 0.0)
    # error: tile-space the accumulator is in `vec`
    y[:] = pl.matmul_acc(acc, x, x)
