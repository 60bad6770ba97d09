# A tile that only a loop binds: whether the loop runs at all is known only when it runs. Where it does not, computing with
# the tile is a finding, and storing it as it is a warning.
#
# platforms: a5, a2a3
# test: run %s --func f --arg full:f32[16x16]=3 --arg 0:i32 --arg zeros:f32[16x16]
# exit: 1
# check: error[uninitialised-read]
# test: run %s --func stored --arg full:f32[16x16]=3 --arg 0:i32 --arg zeros:f32[16x16]
# check: warning[uninitialised-output]
import slipring.language as pl


@pl.incore
def f(x: pl.Tensor[[16, 16], pl.FP32], n: pl.Scalar[pl.INT32], y: pl.Out[pl.Tensor[[16, 16], pl.FP32]]):
    for i in pl.range(n):
        last = pl.load(x, [0, 0], [16, 16]) * pl.cast(i + 1, pl.FP32)
    # error: uninitialised-read computes with uninitialised bytes
    y[:, :] = last + 0.0


@pl.incore
def stored(x: pl.Tensor[[16, 16], pl.FP32], n: pl.Scalar[pl.INT32], y: pl.Out[pl.Tensor[[16, 16], pl.FP32]]):
    for i in pl.range(n):
        last = pl.load(x, [0, 0], [16, 16])
    y[:, :] = last
