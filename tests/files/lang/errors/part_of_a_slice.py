# A load or store at offsets of the run is inside the rows of the slice that it names, not only inside those of the
# tensor of the slice.
#
# platforms: a5, a2a3
# test: run %s --func part --arg iota:f32[8x64] --arg 2:index --arg 16:index --arg zeros:f32[2x16] --verify
# out[3]: f32 288 289 290 291 292 293 294 295 296 297 298 299 300 301 302 303 352 …
# test: run %s --func part --arg iota:f32[8x64] --arg 2:index --arg 17:index --arg zeros:f32[2x16]
# exit: 1 with memory-bounds
# check: error[memory-bounds]: pto.tload: it reads elements 17 to 32 of dimension 1, which has only 32
# test: run %s --func moved --arg iota:f32[8x64] --arg 0:index --arg 17:index --arg zeros:f32[2x16]
# exit: 1 with memory-bounds
# check: error[memory-bounds]: pto.tload: it reads elements 17 to 32 of dimension 1, which has only 32
# test: run %s --func moved --arg iota:f32[8x64] --arg 1:index --arg 2:index --arg zeros:f32[2x16] --verify
# out[3]: f32 132 133 134 135 136 137 138 139 140 141 142 143 144 145 146 147 196 …
# test: run %s --func stored --arg 2:index --arg 16:index --arg zeros:f32[8x64] --verify
# out[2]: f32 288*0 16*1 48*0 16*1 144*0
# test: run %s --func stored --arg 2:index --arg 17:index --arg zeros:f32[8x64]
# exit: 1 with memory-bounds
# check: error[memory-bounds]: pto.tstore: it writes elements 17 to 32 of dimension 1, which has only 32
# test: run %s --func element --arg iota:f32[8x64] --arg 1:index --arg 31:index --arg zeros:f32[1] --verify
# out[3]: f32 239
# test: run %s --func element --arg iota:f32[8x64] --arg 1:index --arg 32:index --arg zeros:f32[1]
# exit: 1 with memory-bounds
# check: it reads element 32 of dimension 1, which has only 32
import slipring.language as pl

X = pl.Tensor[[8, 64], pl.FP32]
N = pl.Scalar[pl.INDEX]


@pl.incore
def part(x: X, i: N, j: N, y: pl.InOut[pl.Tensor[[2, 16], pl.FP32]]):
    s = pl.slice(x, [4, 32], [2, 16])
    pl.store(pl.load(s, [i, j], [2, 16]), [0, 0], y)


@pl.incore
def moved(x: X, i: N, j: N, y: pl.InOut[pl.Tensor[[2, 16], pl.FP32]]):
    s = x[i : i + 4, j : j + 32]
    pl.store(pl.load(s, [i, j], [2, 16]), [0, 0], y)


@pl.incore
def stored(i: N, j: N, x: pl.InOut[X]):
    s = pl.slice(x, [4, 32], [2, 16])
    pl.store(pl.full([2, 16], dtype=pl.FP32, value=1.0), [i, j], s)


@pl.incore
def element(x: X, i: N, j: N, y: pl.InOut[pl.Tensor[[1], pl.FP32]]):
    s = pl.slice(x, [4, 32], [2, 16])
    y[0] = s[i, j]
