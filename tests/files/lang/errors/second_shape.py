# A kernel that the file calls with tensors of several shapes is read for all of them.
#
# test: check %s
# exit: 2
# check: where the file passes `x` [32, 8], `out` [32, 8]
import pypto.language as pl
import torch


@pl.jit
def twice(x: pl.Tensor, out: pl.Out[pl.Tensor]):
    with pl.at(level=pl.Level.CORE_GROUP):
        # error: bounds the slice 0:16 does not lie inside the 8
        out[0:16, 0:8] = pl.add(x[0:16, 0:16], 1.0)[:, 0:8]
    return out


def main():
    twice(torch.zeros(16, 16), torch.zeros(16, 16))
    twice(torch.zeros(16, 16), torch.zeros(16, 16))
    twice(torch.zeros(32, 8), torch.zeros(32, 8))


main()
