# A slice that leaves its tensor inside of the buffer would take elements of the next row: the run says where it does, and a proof
# ends there. What does not count, or is not moved, may lie outside.
#
# platforms: a5, a2a3
# test: run %s --func taken --arg iota:f32[4x24] --arg 8:index --arg zeros:f32[2x16]
# out[2]: f32 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 32 33 34 35 36 37 38 39 40 41 42 43 44 45 46 47
# test: run %s --func taken --arg iota:f32[4x24] --arg 16:index --arg zeros:f32[2x16]
# exit: 1 with memory-bounds
# check: error[memory-bounds]: `x[0:2, 16:32]` is outside of `x[4, 24]`; j = 16
# check: pto.tload: it reads elements 16 to 31 of dimension 1, which has only 24
# check: help: the last part is smaller
# test: run %s --func taken --arg iota:f32[4x24] --arg -1:index --arg zeros:f32[2x16]
# exit: 1 with memory-bounds
# test: prove %s --func taken --arg iota:f32[4x24] --arg 3:index --arg zeros:f32[2x16]
# check: j from 0 to 8
# test: run %s --func put --arg iota:f32[2x16] --arg 16:index --arg zeros:f32[4x24]
# exit: 1 with memory-bounds
# check: error[memory-bounds]: `y[0:2, 16:32]` is outside of `y[4, 24]`; j = 16
# check: pto.tstore: it writes elements 16 to 31 of dimension 1, which has only 24
# test: run %s --func counted --arg iota:f32[4x24] --arg 16:index --arg 8:index --arg zeros:f32[2x16]
# out[3]: f32 16 17 18 19 20 21 22 23 8*0 40 41 42 43 44 45 46 47 8*0
# test: run %s --func counted --arg iota:f32[4x24] --arg 16:index --arg 9:index --arg zeros:f32[2x16]
# exit: 1 with memory-bounds
# check: it reads elements 16 to 24 of dimension 1, which has only 24
import slipring.language as pl


@pl.jit
def taken(x: pl.Tensor[[4, 24], pl.FP32], j: pl.Scalar[pl.INDEX], y: pl.Out[pl.Tensor[[2, 16], pl.FP32]]):
    y[:] = x[0:2, j : j + 16] * 1.0


@pl.jit
def put(x: pl.Tensor[[2, 16], pl.FP32], j: pl.Scalar[pl.INDEX], y: pl.InOut[pl.Tensor[[4, 24], pl.FP32]]):
    y[0:2, j : j + 16] = x[:, :] * 1.0


@pl.jit
def counted(
    x: pl.Tensor[[4, 24], pl.FP32],
    j: pl.Scalar[pl.INDEX],
    n: pl.Scalar[pl.INDEX],
    y: pl.Out[pl.Tensor[[2, 16], pl.FP32]],
):
    t = pl.load(x, [0, j], [2, 16], valid_shape=[2, n])
    y[:] = pl.fillpad(t, pl.PadValue.zero)
