# Iterations of `pl.parallel` do not depend on each other: a number or tile that one takes from the one before is named,
# with `init_values` and without. A tensor that each iteration writes a part of is no such value.
#
# test: run %s --arch a5 --func rebound --arg iota:f32[4x16] --arg zeros:f32[1x16]
# check: warning[parallel]: an iteration of `pl.parallel` takes `total` from the one before
# out[1]: f32 96 100 104 108 112 116 120 124 128 132 136 140 144 148 152 156
# test: run %s --arch a5 --func given --arg iota:f32[4x16] --arg zeros:f32[1x16]
# check: warning[parallel]: an iteration of `pl.parallel` takes `s` from the one before
# out[1]: f32 96 100 104 108 112 116 120 124 128 132 136 140 144 148 152 156
# test: run %s --arch a5 --func numbered --arg iota:f32[4x16] --arg zeros:f32[4x16]
# check: warning[parallel]: an iteration of `pl.parallel` takes `n` from the one before
# test: run %s --arch a5 --func apart --arg iota:f32[4x16] --arg zeros:f32[4x16] --verify
# check-not: warning
# test: run %s --arch a5 --func handed --arg iota:f32[4x16] --arg zeros:f32[4x16] --verify
# check-not: warning
import slipring.language as pl


@pl.incore
def rebound(x: pl.Tensor[[4, 16], pl.FP32], y: pl.Out[pl.Tensor[[1, 16], pl.FP32]]):
    total = pl.full([1, 16], dtype=pl.FP32, value=0.0)
    for i in pl.parallel(4):
        total = pl.add(total, pl.load(x, [i, 0], [1, 16]))
    pl.store(total, [0, 0], y)


@pl.incore
def given(x: pl.Tensor[[4, 16], pl.FP32], y: pl.Out[pl.Tensor[[1, 16], pl.FP32]]):
    zero = pl.full([1, 16], dtype=pl.FP32, value=0.0)
    for i, (s,) in pl.parallel(4, init_values=(zero,)):
        total = pl.yield_(pl.add(s, pl.load(x, [i, 0], [1, 16])))
    pl.store(total, [0, 0], y)


@pl.incore
def numbered(x: pl.Tensor[[4, 16], pl.FP32], y: pl.Out[pl.Tensor[[4, 16], pl.FP32]]):
    n = 0
    for _ in pl.parallel(4):
        pl.store(pl.load(x, [n, 0], [1, 16]), [n, 0], y)
        n = n + 1


@pl.incore
def apart(x: pl.Tensor[[4, 16], pl.FP32], y: pl.Out[pl.Tensor[[4, 16], pl.FP32]]):
    for i in pl.parallel(4):
        t = pl.load(x, [i, 0], [1, 16])
        t = pl.add(t, 1.0)
        y = pl.store(t, [i, 0], y)


@pl.incore
def handed(x: pl.Tensor[[4, 16], pl.FP32], y: pl.Out[pl.Tensor[[4, 16], pl.FP32]]):
    for i, (out,) in pl.parallel(4, init_values=(y,)):
        y = pl.yield_(pl.store(pl.load(x, [i, 0], [1, 16]), [i, 0], out))
