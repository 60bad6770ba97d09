# What host code makes has one bound, however it is made: a copy of a long list in each iteration is stopped before the memory ends.
#
# test: check %s
# exit: 2
import slipring.language as pl

LONG = list(range(60000))
KEPT = []
for i in range(30000):
    # error: host-steps makes lists, dicts and strings of more than 1000000 values
    KEPT.append(LONG[1:])


@pl.incore
def k(a: pl.Tensor[[64, 64], pl.FP32], out: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
    out[:, :] = a[:, :] + len(KEPT)
