# What a file defines outside of its kernels and is not a constant is explained where it is defined.
#
# test: check %s
# exit: 2
# check: LARGE = 1 << 70
# check: it comes from here
import slipring.language as pl

LARGE = 1 << 70
ROWS = LARGE % 7
FINE = 4


@pl.incore
def large(x: pl.Tensor[[64, 64], pl.FP32], y: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
    t = pl.exp(x)
    # error: not-constant it comes from the number does not fit into 64 bits
    for i in pl.range(LARGE):
        t = pl.exp(t)
    y[:] = t


@pl.incore
def rests_on_another(x: pl.Tensor[[64, 64], pl.FP32], y: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
    # error: not-constant it comes from the number does not fit into 64 bits
    y[0:ROWS, :] = pl.exp(x[0:FINE, :])
