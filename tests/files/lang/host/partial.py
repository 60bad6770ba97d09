# Functions with arguments that each of their calls has: of inline functions, of words of the language, one of one, made in the
# kernel. What a call says by name counts.
# test: run %s --arch a2a3 --arg full:f32[8x64]=4 --arg zeros:f32[8x64] --arg zeros:f32[8x64] --arg zeros:f32[8x64]
# out[1]: f32 512*8
# out[2]: f32 512*25
# out[3]: f32 512*12
import functools
from functools import partial

import slipring.language as pl


@pl.inline
def scaled(x, factor, more):
    return x * factor + more


twice = partial(scaled, factor=2.0, more=0.0)
more = functools.partial(twice, factor=5.0)
tripled = partial(pl.mul, rhs=3.0)


@pl.incore
def kernel(
    x: pl.Tensor[[8, 64], pl.FP32],
    a: pl.Out[pl.Tensor[[8, 64], pl.FP32]],
    b: pl.Out[pl.Tensor[[8, 64], pl.FP32]],
    c: pl.Out[pl.Tensor[[8, 64], pl.FP32]],
):
    a[:] = twice(x[:])
    here = partial(more, more=1.0)
    b[:] = here(here(x[:], factor=1.0), more=0.0)
    c[:] = tripled(x[:])
