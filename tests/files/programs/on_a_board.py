# A whole program through a board's queue: what its tasks do wrong is found, and options that have no effect are refused.
#
# args: full:f32[32x64]=1.5 zeros:f32[32x64]
# test: run %s --func right --device p150
# check: 2 of 2 tasks launched through the command queue
# out[1]: f32 2048*3
# test: run %s --func right --device p150 --clusters 2
# exit: 2
# check: `--clusters` has no effect on a whole program with `--device`
# test: run %s --func right --device p150 --order 1
# exit: 2
# check: `--order` has no effect on a whole program with `--device`
# test: run %s --func right --device p150 --json
# exit: 2
# check: `--json` has no effect on a whole program with `--device`
# test: run %s --func wrong --device p150
# exit: 1
# check: reads `t`, where nobody has written
import slipring.language as pl


@pl.jit
def right(x: pl.Tensor[[32, 64], pl.FP32], out: pl.Out[pl.Tensor[[32, 64], pl.FP32]]):
    with pl.at(level=pl.Level.CORE_GROUP):
        out[0:16, :] = x[0:16, :] * 2.0
    with pl.at(level=pl.Level.CORE_GROUP):
        out[16:32, :] = x[16:32, :] * 2.0


@pl.jit
def wrong(x: pl.Tensor[[32, 64], pl.FP32], out: pl.Out[pl.Tensor[[32, 64], pl.FP32]]):
    t = pl.create_tensor([32, 64], dtype=pl.FP32)
    with pl.at(level=pl.Level.CORE_GROUP):
        t[0:16, :] = x[0:16, :]
    with pl.at(level=pl.Level.CORE_GROUP):
        out[:, :] = t[:, :] * 2.0
