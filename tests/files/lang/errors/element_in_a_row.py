# An element at indices of the run is inside its row, not only inside the buffer: where the next row begins is another element's
# place. Indices that are always inside cost nothing.
#
# platforms: a5, a2a3
# test: run %s --func taken --arg iota:f32[4x24] --arg 23:index --arg zeros:f32[8]
# out[2]: f32 23 7*0
# test: run %s --func taken --arg iota:f32[4x24] --arg 30:index --arg zeros:f32[8]
# exit: 1 with memory-bounds
# check: error[memory-bounds]: `x[0, 30]` is outside of `x[4, 24]`; j = 30
# check: a = pl.read(x, [0, j])
# check: pto.load_scalar: it reads element 30 of dimension 1, which has only 24
# test: run %s --func put --arg 3:index --arg 24:index --arg full:f32[4x24]=0.0
# exit: 1 with memory-bounds
# check: error[memory-bounds]: `y[3, 24]` is outside of `y[4, 24]`; i = 3, j = 24
# check: pto.store_scalar: it writes element 24 of dimension 1, which has only 24
# test: run %s --func by_index --arg iota:f32[4x24] --arg -1:index --arg zeros:f32[8]
# exit: 1 with memory-bounds
# test: run %s --func beyond --arg iota:f32[4x24] --arg 4:index --arg zeros:f32[8]
# exit: 1 with memory-bounds
# test: run %s --func counted --arg iota:f32[4x24] --arg zeros:f32[24] --verify
# out[1]: f32 24 25 26 27 28 29 30 31 32 33 34 35 36 37 38 39 40 41 42 43 44 45 46 47
# test: prove %s --func taken --arg iota:f32[4x24] --arg 0:index --arg zeros:f32[8]
# check: counts j from 0 to 23, each of which was run: more than the buffers hold
import slipring.language as pl


@pl.incore
def taken(x: pl.Tensor[[4, 24], pl.FP32], j: pl.Scalar[pl.INDEX], y: pl.InOut[pl.Tensor[[8], pl.FP32]]):
    a = pl.read(x, [0, j])
    pl.write(y, [0], a)


@pl.incore
def put(i: pl.Scalar[pl.INDEX], j: pl.Scalar[pl.INDEX], y: pl.InOut[pl.Tensor[[4, 24], pl.FP32]]):
    pl.write(y, [i, j], 1.0)


@pl.incore
def by_index(x: pl.Tensor[[4, 24], pl.FP32], j: pl.Scalar[pl.INDEX], y: pl.InOut[pl.Tensor[[8], pl.FP32]]):
    y[0] = x[1, j]


@pl.incore
def beyond(x: pl.Tensor[[4, 24], pl.FP32], i: pl.Scalar[pl.INDEX], y: pl.InOut[pl.Tensor[[8], pl.FP32]]):
    y[0] = pl.read(x, [i, 0])


@pl.incore
def counted(x: pl.Tensor[[4, 24], pl.FP32], y: pl.InOut[pl.Tensor[[24], pl.FP32]]):
    for j in pl.range(24):
        y[j] = x[1, j]
