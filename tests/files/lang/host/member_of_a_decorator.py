# A member that a decorator made which is not known may call its function when it is read: its object may be changed then.
#
# test: run %s --func before
# args: full:f32[16x64]=0.0 zeros:f32[16x64]
# out[1]: f32 1024*3.0
# test: run %s --func counted
# exit: 2
import functools

import slipring.language as pl


class Counts:
    seen = 3.0

    @functools.cached_property
    def value(self):
        self.seen += 1.0
        return self.seen


counts = Counts()
BEFORE = counts.seen
counts.value
COUNTED = counts.seen


@pl.incore
def before(a: pl.Tensor[[16, 64], pl.FP32], out: pl.Out[pl.Tensor[[16, 64], pl.FP32]]):
    out[:, :] = a[:, :] + BEFORE


@pl.incore
def counted(a: pl.Tensor[[16, 64], pl.FP32], out: pl.Out[pl.Tensor[[16, 64], pl.FP32]]):
    # error: not-constant `COUNTED` is not known
    out[:, :] = a[:, :] + COUNTED
