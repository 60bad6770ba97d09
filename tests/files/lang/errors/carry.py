# A product cannot be carried by copies: it is accumulated in place. (Iterations whose number is known are lowered one by one.)
#
# test: check %s
# exit: 2
import slipring.language as pl


@pl.incore
def f(x: pl.Tensor[[64, 64], pl.FP32], y: pl.Out[pl.Tensor[[64, 64], pl.FP32]], n: pl.Scalar[pl.INT32]):
    acc = pl.matmul(x, x)
    # error: carry a tile in `acc` cannot be copied, which is needed to carry it
    for i in pl.range(n):
        acc = pl.matmul(x, x)
    y[:] = acc
