# Host code that runs for longer than it is followed is said to do so: no loop is cut short.
#
# test: check %s
# exit: 2
import slipring.language as pl

COUNT = 0
for i in range(5000000):
    # error: host-steps runs for more than 4000000 steps
    COUNT += 1


@pl.incore
def k(a: pl.Tensor[[64, 64], pl.FP32], out: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
    out[:, :] = a[:, :] + COUNT
