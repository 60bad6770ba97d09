# A part of a tile at an offset of the run is inside the tile, or the run stops: its bytes would be another tile's. A slice with an end
# of its own ends where the tile does.
#
# platforms: a5, a2a3
# args: iota:f32[64x128] 8:i32 zeros:f32[24x128]
# test: run %s --func taken --verify
# check: memory clean
# test: run %s --func taken --arg iota:f32[64x128] --arg -4:i32 --arg zeros:f32[24x128]
# exit: 1 with memory-bounds
# check: error[memory-bounds]: this part of a tile begins at row -4, and it must begin at row 0 to 8
# check: u = pl.slice(t, [8, 128], [n, 0])
# test: run %s --func taken --arg iota:f32[64x128] --arg 9:i32 --arg zeros:f32[24x128]
# exit: 1 with memory-bounds
# test: run %s --func put --arg iota:f32[64x128] --arg 12:i32 --arg zeros:f32[24x128]
# exit: 1 with memory-bounds
# check: this part of a tile begins at row 12, and it must begin at row 0 to 8
# test: run %s --func columns --arg iota:f32[64x128] --arg 120:i32 --arg zeros:f32[24x128]
# exit: 1 with memory-bounds
# check: this part of a tile begins at column 120, and it must begin at column 0 to 96
# test: run %s --func assembled --arg iota:f32[64x128] --arg -8:i32 --arg zeros:f32[24x128]
# exit: 1 with memory-bounds
# test: run %s --func ended --arg iota:f32[64x128] --arg 12:i32 --arg zeros:f32[24x128] --verify
# check: memory clean
# test: prove %s --func taken --arg iota:f32[64x128] --arg 0:i32 --arg zeros:f32[24x128]
# check: counts n from 0 to 8
import slipring.language as pl


@pl.incore
def taken(a: pl.Tensor[[64, 128], pl.FP32], n: pl.Scalar[pl.INT32], out: pl.InOut[pl.Tensor[[24, 128], pl.FP32]]):
    t = pl.load(a, [0, 0], [16, 128]) + 0.0
    u = pl.slice(t, [8, 128], [n, 0])
    pl.store(u + 1.0, [0, 0], out)


@pl.incore
def put(a: pl.Tensor[[64, 128], pl.FP32], n: pl.Scalar[pl.INT32], out: pl.InOut[pl.Tensor[[24, 128], pl.FP32]]):
    t = pl.load(a, [0, 0], [16, 128]) + 0.0
    t[n : n + 8, :] = pl.load(a, [16, 0], [8, 128])
    pl.store(t, [0, 0], out)


@pl.incore
def columns(a: pl.Tensor[[64, 128], pl.FP32], n: pl.Scalar[pl.INT32], out: pl.InOut[pl.Tensor[[24, 128], pl.FP32]]):
    t = pl.load(a, [0, 0], [16, 128]) + 0.0
    pl.store(t[:, n : n + 32] + 1.0, [0, 0], out)


@pl.incore
def assembled(a: pl.Tensor[[64, 128], pl.FP32], n: pl.Scalar[pl.INT32], out: pl.InOut[pl.Tensor[[24, 128], pl.FP32]]):
    t = pl.load(a, [0, 0], [16, 128]) + 0.0
    t = pl.assemble(t, pl.load(a, [16, 0], [8, 128]), [n, 0])
    pl.store(t, [0, 0], out)


@pl.incore
def ended(a: pl.Tensor[[64, 128], pl.FP32], n: pl.Scalar[pl.INT32], out: pl.InOut[pl.Tensor[[24, 128], pl.FP32]]):
    t = pl.load(a, [0, 0], [16, 128]) + 0.0
    out[0:4, :] = t[n:16, :] + 1.0
