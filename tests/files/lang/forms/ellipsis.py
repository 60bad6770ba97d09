# test: check %s
# exit: 0
# test: run %s --arg full:f32[16x64]=3 --arg zeros:f32[16x64]
# out[1]: f32 1024*4.0
#
# A statement that is only `...` does nothing, as in Python.

import slipring.language as pl


@pl.incore
def later(a: pl.Tensor[[16, 64], pl.FP32], out: pl.Out[pl.Tensor[[16, 64], pl.FP32]]):
    if True:
        ...
    out = pl.store(pl.add(pl.load(a, [0, 0], [16, 64]), 1.0), [0, 0], out)
