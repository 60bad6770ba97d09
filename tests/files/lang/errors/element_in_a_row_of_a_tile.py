# An element of a tile at indices of the run is inside its row: where the next row begins is another element's place.
# Indices that are always inside cost nothing.
#
# platforms: a5, a2a3
# test: run %s --func taken --arg iota:f32[4x24] --arg 23:index --arg zeros:f32[8] --verify
# out[2]: f32 23 7*0
# test: run %s --func taken --arg iota:f32[4x24] --arg 24:index --arg zeros:f32[8]
# exit: 1 with memory-bounds
# check: error[memory-bounds]: this part of a tile begins at column 24, and it must begin at column 0 to 23
# check: a = pl.read(t, [0, j])
# test: run %s --func taken --arg iota:f32[4x24] --arg -1:index --arg zeros:f32[8]
# exit: 1 with memory-bounds
# test: run %s --func put --arg 3:index --arg 23:index --arg zeros:f32[4x24] --verify
# out[2]: f32 95*0 1
# test: run %s --func put --arg 2:index --arg 24:index --arg zeros:f32[4x24]
# exit: 1 with memory-bounds
# check: error[memory-bounds]: this part of a tile begins at column 24, and it must begin at column 0 to 23
# test: run %s --func put --arg 4:index --arg 0:index --arg zeros:f32[4x24]
# exit: 1 with memory-bounds
# check: error[memory-bounds]: this part of a tile begins at row 4, and it must begin at row 0 to 3
# test: run %s --func counted --arg iota:f32[4x24] --arg zeros:f32[24] --verify
# out[1]: f32 24 25 26 27 28 29 30 31 32 33 34 35 36 37 38 39 40 41 42 43 44 45 46 47
import slipring.language as pl


@pl.incore
def taken(x: pl.Tensor[[4, 24], pl.FP32], j: pl.Scalar[pl.INDEX], y: pl.InOut[pl.Tensor[[8], pl.FP32]]):
    t = pl.load(x, [0, 0], [4, 24])
    a = pl.read(t, [0, j])
    pl.write(y, [0], a)


@pl.incore
def put(i: pl.Scalar[pl.INDEX], j: pl.Scalar[pl.INDEX], y: pl.Out[pl.Tensor[[4, 24], pl.FP32]]):
    t = pl.full([4, 24], dtype=pl.FP32, value=0.0)
    pl.write(t, [i, j], 1.0)
    pl.store(t, [0, 0], y)


@pl.incore
def counted(x: pl.Tensor[[4, 24], pl.FP32], y: pl.InOut[pl.Tensor[[24], pl.FP32]]):
    t = pl.load(x, [0, 0], [4, 24])
    for j in pl.range(24):
        y[j] = pl.read(t, [1, j])
