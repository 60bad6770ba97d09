# A kernel under a condition that is not known is run, with a word.
#
# test: run %s
# check: warning[kernel-perhaps]: whether Python comes to `maybe` is not known
# args: full:f32[16x64]=1.0 zeros:f32[16x64]
# out[1]: f32 1024*3
import os

import slipring.language as pl

if os.environ.get("FAST"):

    @pl.incore
    def maybe(a: pl.Tensor[[16, 64], pl.FP32], out: pl.Out[pl.Tensor[[16, 64], pl.FP32]]):
        out[:, :] = a[:, :] * 3.0
