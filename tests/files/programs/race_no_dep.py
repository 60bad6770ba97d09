# Two tasks write the same rows, and `no_dep` takes the edge away: found in one run, whatever the order was.
#
# args: rand:f32[32x16] zeros:f32[32x16]
# platforms: a5, a2a3
# test: run %s
# exit: 1
# check: tasks findings
# check: this order only (tasks race)
# check: error[task-race]: `part` (i = 0) and `part` (i = 1) touch the same bytes of `out`, and nothing orders them
# check: writes bytes 0 to 1023 of `out`
# check: `out` of `part` is excluded from dependency tracking
# check: the parts are not disjoint: take the `no_dep` away, or declare the order with `deps=`
# test: run %s --clusters 1 --order 5
# exit: 1
import pypto.language as pl


@pl.jit
def main(x: pl.Tensor[[32, 16], pl.FP32], out: pl.Out[pl.Tensor[[32, 16], pl.FP32]]):
    for i in pl.range(2):
        # error: task-race `part` (i = 0) and `part` (i = 1) touch the same bytes of `out`
        with pl.at(level=pl.Level.CORE_GROUP, name_hint="part", no_dep_args=[out]):
            t = pl.load(x, [i * 16, 0], [16, 16])
            pl.store(pl.mul(t, 2.0), [0, 0], out)
    return out
