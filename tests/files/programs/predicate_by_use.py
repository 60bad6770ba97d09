# The number of a predicate is current if the scope uses it: that orders the tasks.
#
# test: run %s --arch a5 --arg x=iota:f32[16x16] --arg n=zeros:i32[1] --arg y=zeros:f32[16x16] --verify
# check: 2 tasks with 1 edge
# out[2]: f32 1 2 3 4 5 6 7 …
import pypto.language as pl

X = pl.Tensor[[16, 16], pl.FP32]
N = pl.Tensor[[1], pl.INT32]


@pl.jit
def main(x: X, n: pl.InOut[N], y: pl.Out[X]):
    with pl.at(level=pl.Level.CORE_GROUP):
        pl.write(n, [0], 1)
    with pl.spmd(2, predicate=(n[0] > 0)):
        i = pl.get_block_idx()
        y[i * 8 : i * 8 + 8, :] = pl.add(x[i * 8 : i * 8 + 8, :], pl.cast(pl.read(n, [0]), pl.FP32))
    return y
