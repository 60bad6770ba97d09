# What is taken of a part of a tensor is inside the rows of the part: after them come others of the tensor. What is
# taken of a whole tensor is held to the buffer.
#
# platforms: a5, a2a3
# test: run %s --func part --arg iota:f32[32x8] --arg 8:index --arg zeros:f32[8x8] --verify
# out[2]: f32 64 65 66 67 68 69 70 71 72 …
# test: run %s --func part --arg iota:f32[32x8] --arg 9:index --arg zeros:f32[8x8]
# exit: 1 with memory-bounds
# check: error[memory-bounds]: pto.tload: it reads elements 9 to 16 of dimension 0, which has only 16
# test: run %s --func stored --arg 8:index --arg zeros:f32[32x8] --verify
# out[1]: f32 64*0 64*1 128*0
# test: run %s --func stored --arg 9:index --arg zeros:f32[32x8]
# exit: 1 with memory-bounds
# check: error[memory-bounds]: pto.tstore: it writes elements 9 to 16 of dimension 0, which has only 16
# test: run %s --func element --arg iota:f32[32x8] --arg 15:index --arg zeros:f32[1] --verify
# out[2]: f32 120
# test: run %s --func element --arg iota:f32[32x8] --arg 16:index --arg zeros:f32[1]
# exit: 1 with memory-bounds
# check: it reads element 16 of dimension 0, which has only 16
# test: run %s --func anew --arg iota:f32[32x8] --arg 4:index --arg zeros:f32[4x16] --verify
# out[2]: f32 64 65 66 67 68 69 70 71 72 …
# test: run %s --func anew --arg iota:f32[32x8] --arg 5:index --arg zeros:f32[4x16]
# exit: 1 with memory-bounds
# check: error[memory-bounds]: pto.tload: it reads elements 5 to 8 of dimension 0, which has only 8
# test: run %s --func row --arg iota:f32[2x32] --arg 1:index --arg 8:index --arg zeros:f32[8] --verify
# out[3]: f32 40 41 42 43 44 45 46 47
# test: run %s --func row --arg iota:f32[2x32] --arg 0:index --arg 9:index --arg zeros:f32[8]
# exit: 1 with memory-bounds
# check: error[memory-bounds]: pto.tload: it reads elements 9 to 16 of dimension 0, which has only 16
import slipring.language as pl

X = pl.Tensor[[32, 8], pl.FP32]
N = pl.Scalar[pl.INDEX]


@pl.incore
def part(x: X, i: N, y: pl.InOut[pl.Tensor[[8, 8], pl.FP32]]):
    s = x[0:16, :]
    pl.store(pl.load(s, [i, 0], [8, 8]), [0, 0], y)


@pl.incore
def stored(i: N, x: pl.InOut[X]):
    s = pl.slice(x, [16, 8], [0, 0])
    pl.store(pl.full([8, 8], dtype=pl.FP32, value=1.0), [i, 0], s)


@pl.incore
def element(x: X, i: N, y: pl.InOut[pl.Tensor[[1], pl.FP32]]):
    s = x[0:16, :]
    y[0] = s[i, 0]


@pl.incore
def anew(x: X, i: N, y: pl.InOut[pl.Tensor[[4, 16], pl.FP32]]):
    s = pl.reshape(x[0:16, :], [8, 16])
    pl.store(pl.load(s, [i, 0], [4, 16]), [0, 0], y)


@pl.incore
def row(x: pl.Tensor[[2, 32], pl.FP32], k: N, i: N, y: pl.InOut[pl.Tensor[[8], pl.FP32]]):
    s = x[k, 0:16]
    pl.store(pl.load(s, [i], [8]), [0], y)
