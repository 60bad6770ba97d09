# Tasks that are handed a whole tensor and write a part each wait for each other without need: a hint, and the same with parts.
#
# args: rand:f32[64x16] zeros:f32[64x16]
# platforms: a5, a2a3
# test: run %s --func whole
# exit: 0
# check: 4 tasks with 3 edges
# check: tasks clean
# check: note[needless-edge]: `part` (i = 1) waits for `part` (i = 0) because both use `out`, and they touch different bytes of it
# check: 2 more edges of these two places are like it
# check: hand each task its part, `out[first:end, …]`, or take it out of the tracking: `no_dep_args=[out]`, `pl.no_dep(out)`
# A hint stops no launches.
# test: run %s --func whole --launches 2
# exit: 0
# check: note[needless-edge]
# check-not: this is launch
# test: run %s --func parts
# exit: 0
# check-not: needless-edge
# check: 4 tasks with 0 edges
# test: run %s --func parts --clusters 2
# check: clusters: 2 of 2 used
import pypto.language as pl


@pl.jit
def whole(x: pl.Tensor[[64, 16], pl.FP32], out: pl.Out[pl.Tensor[[64, 16], pl.FP32]]):
    for i in pl.range(4):
        with pl.at(level=pl.Level.CORE_GROUP, name_hint="part"):
            pl.store(pl.load(x, [i * 16, 0], [16, 16]), [i * 16, 0], out)
    return out


@pl.jit
def parts(x: pl.Tensor[[64, 16], pl.FP32], out: pl.Out[pl.Tensor[[64, 16], pl.FP32]]):
    for i in pl.range(4):
        own = out[i * 16 : i * 16 + 16, :]
        with pl.at(level=pl.Level.CORE_GROUP, name_hint="part"):
            own[:] = pl.load(x, [i * 16, 0], [16, 16])
    return out
