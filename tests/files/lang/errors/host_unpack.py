# Names that are more or fewer than the values.
#
# test: check %s
# exit: 2
import slipring.language as pl

# error: raise ValueError: the number of values to unpack is not that of the names
A, B = 1, 2, 3


@pl.incore
def k(a: pl.Tensor[[64, 64], pl.FP32], out: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
    out[:, :] = a[:, :] + B
