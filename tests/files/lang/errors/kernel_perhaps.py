# Which kernels there are may be decided by what the file's own code asks of its surroundings: of one that may not be there it is
# said so, of two that exclude each other none is taken.
#
# test: run %s --arg full:f32[16x64]=1.0 --arg zeros:f32[16x64]
# exit: 2
import os

import slipring.language as pl

if os.environ.get("FAST"):

    @pl.incore
    def twice(a: pl.Tensor[[16, 64], pl.FP32], out: pl.Out[pl.Tensor[[16, 64], pl.FP32]]):
        out[:, :] = a[:, :] * 2.0

else:

    @pl.incore
    # error: duplicate a second function `twice`
    def twice(a: pl.Tensor[[16, 64], pl.FP32], out: pl.Out[pl.Tensor[[16, 64], pl.FP32]]):
        out[:, :] = a[:, :] + a[:, :]
