# A name that a branch in a loop binds to an output stands for it after the loop; a reshape that drops extents of 1 keeps lines.
# test: run %s --arch a5 --func after --arg full:f32[64x64]=3 --arg zeros:f32[64x64]
# out[1]: f32 1024*3 1024*0 1024*3 1024*0
# test: run %s --arch a5 --func lines --arg full:f32[3x24x64]=2 --arg zeros:f32[6x33]
# out[1]: f32 198*3
import pypto.language as pl


@pl.incore
def after(a: pl.Tensor[[64, 64], pl.FP32], c: pl.InOut[pl.Tensor[[64, 64], pl.FP32]]) -> pl.Tensor[[64, 64], pl.FP32]:
    for i in pl.range(4):
        if i % 2 != 0:
            continue
        t = pl.load(a, [i * 16, 0], [16, 64])
        out = pl.store(t, [i * 16, 0], c)
    return out


@pl.incore
def lines(v: pl.Tensor[[3, 24, 64], pl.FP32], y: pl.Out[pl.Tensor[[6, 33], pl.FP32]]):
    y[0:6, 0:33] = pl.reshape(pl.load(v, [1, 2, 3], [1, 6, 33]), [6, 33]) + 1.0
