# A product cannot be carried by copies: it is accumulated in place.
#
# test: check %s
# exit: 2
import slipring.language as pl


@pl.incore
def f(x: pl.Tensor[[64, 64], pl.FP32], y: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
    acc = pl.matmul(x, x)
    # error: carry a tile in `acc` cannot be copied, which is needed to carry it
    for i in pl.range(4):
        acc = pl.matmul(x, x)
    y[:] = acc
