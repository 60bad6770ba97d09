# A part is never valid where its source is not: `valid_shape` makes what is valid smaller, not larger. An element has a
# value or is an error.
#
# platforms: a5, a2a3
# test: run %s --func loaded --arg full:f32[8x16]=1 --arg 7:index --arg zeros:f32[8x16] --verify
# out[2]: f32 8*1 8*0 8*1 8*0 8*1 8*0 8*1 8*0 8*1 8*0 8*1 8*0 32*0
# test: run %s --func loaded --arg full:f32[8x16]=1 --arg 2:index --arg zeros:f32[8x16] --verify
# out[2]: f32 8*1 8*0 8*1 8*0 96*0
# test: run %s --func sliced --arg full:f32[8x16]=1 --arg 7:index --arg zeros:f32[8x16] --verify
# out[2]: f32 8*1 8*0 8*1 8*0 8*1 8*0 8*1 8*0 8*1 8*0 8*1 8*0 32*0
# test: run %s --func sliced --arg full:f32[8x16]=1 --arg 2:index --arg zeros:f32[8x16] --verify
# out[2]: f32 8*1 8*0 8*1 8*0 96*0
# test: run %s --func element --arg iota:f32[8x16] --arg 7:index --arg zeros:f32[1] --verify
# out[2]: f32 87
# test: run %s --func element --arg iota:f32[8x16] --arg 8:index --arg zeros:f32[1]
# check: uninitialised
import slipring.language as pl

X = pl.Tensor[[8, 16], pl.FP32]
N = pl.Scalar[pl.INDEX]


@pl.incore
def loaded(x: X, n: N, y: pl.Out[X]):
    s = pl.slice(x, [8, 16], [0, 0], valid_shape=[6, 8])
    t = pl.load(s, [0, 0], [8, 16], valid_shape=[n, 16])
    pl.store(pl.fillpad(t, pl.PadValue.zero), [0, 0], y)


@pl.incore
def sliced(x: X, n: N, y: pl.Out[X]):
    t = pl.load(x, [0, 0], [8, 16], valid_shape=[6, 8])
    s = pl.slice(t, [8, 16], [0, 0], valid_shape=[n, 16])
    pl.store(pl.fillpad(s, pl.PadValue.zero), [0, 0], y)


@pl.incore
def element(x: X, n: N, y: pl.Out[pl.Tensor[[1], pl.FP32]]):
    t = pl.load(x, [0, 0], [8, 16], valid_shape=[6, 8])
    y[0] = t[5, n]
