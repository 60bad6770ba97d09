# A part of a list of the host that is not known: each use says where it comes from, as a name does.
#
# test: check %s
# exit: 2
import os

import slipring.language as pl

SIZES = [1, int(os.environ["WIDTH"]), 3]
BY_NAME = {"rows": 2, "width": SIZES[1]}


@pl.incore
def part_not_known(x: pl.Tensor[[8, 8], pl.FP32], out: pl.Out[pl.Tensor[[8, 8], pl.FP32]]):
    t = pl.load(x, [0, 0], [8, 8])
    # error: not-constant `SIZES[1]` is not known when the kernel is compiled: it comes from a part of what is not known here
    a = t * SIZES[1]
    # error: not-constant `BY_NAME["width"]` is not known when the kernel is compiled
    b = t + BY_NAME["width"]
    # error: not-constant `SIZES[0 + 1]` is not known when the kernel is compiled
    c = pl.const(SIZES[0 + 1], pl.INT32)
    for n in SIZES:
        # error: not-constant `n` is not known when the kernel is compiled
        d = t + n
    pl.store(t * SIZES[2], [0, 0], out)
    return out
