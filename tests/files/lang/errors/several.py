# One run reports every error: of all kernels, and of the statements after an error; what only follows from one is not reported.
#
# test: check %s
# exit: 2
import slipring.language as pl

SCALE = 2.0


@pl.incore
def first(x: pl.Tensor[[64, 64], pl.FP32], y: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
    # error: unknown-op there is no `pl.expp`
    t = pl.expp(x)
    u = t * SCALE
    # error: store-shape a tile [64, 1] does not fit a window [64, 64] of `y`
    y[:] = pl.row_max(x)
    for i in pl.range(4):
        # error: bounds the slice 0:65 does not lie inside the 64 of this dimension
        y[i, :] = x[i, 0:65]
    if u > 3:
        y[:] = scale


@pl.incore
def second(x: pl.Tensor[[64, 64], pl.FP32], y: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
    # error: read-only `x` is an input and cannot be written
    x[:] = y
