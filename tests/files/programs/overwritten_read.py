# A task overwrites what another one reads. The directions order them, but a runtime that follows only writers would not: a
# warning, and the same with the order declared.
#
# args: full:f32[16x16]=1.0 zeros:f32[16x16]
# platforms: a5, a2a3
# test: run %s --func overwrites --verify
# exit: 0
# check: tasks clean
# check: warning[overwritten-read]: `second` overwrites what `first` reads, and only an edge from the reader keeps them apart
# check: declare the order: `deps=` with the id of `first`, or use another tensor
# out[1]: f32 256*3.0
# A warning of an earlier launch is not lost.
# test: run %s --func overwrites --launches 3
# exit: 0
# check: note: this is launch 1 of 3
# check: warning[overwritten-read]
# test: run %s --func declares --verify
# exit: 0
# check-not: overwritten-read
# out[1]: f32 256*3.0
import pypto.language as pl


@pl.jit
def overwrites(x: pl.InOut[pl.Tensor[[16, 16], pl.FP32]], out: pl.Out[pl.Tensor[[16, 16], pl.FP32]]):
    with pl.at(level=pl.Level.CORE_GROUP, name_hint="first"):
        out[:] = pl.add(x, 2.0)
    with pl.at(level=pl.Level.CORE_GROUP, name_hint="second"):
        pl.store(pl.full([16, 16], pl.FP32, 7.0), [0, 0], x)
    return out


@pl.jit
def declares(x: pl.InOut[pl.Tensor[[16, 16], pl.FP32]], out: pl.Out[pl.Tensor[[16, 16], pl.FP32]]):
    with pl.at(level=pl.Level.CORE_GROUP, name_hint="first") as first:
        out[:] = pl.add(x, 2.0)
    with pl.at(level=pl.Level.CORE_GROUP, name_hint="second", deps=[first]):
        pl.store(pl.full([16, 16], pl.FP32, 7.0), [0, 0], x)
    return out
