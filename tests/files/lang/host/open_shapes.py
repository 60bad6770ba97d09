# test: check %s
# exit: 2
# check: pass it: `--arg a=rand:f32[64x64]`
import pypto.language as pl


@pl.jit
def add(a: pl.Tensor, out: pl.Out[pl.Tensor[[16, 16], pl.FP32]]):  # error: parameter the shape of `a` is not known
    out[:] = a + 1.0
