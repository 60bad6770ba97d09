# A constant of the file goes before the word of the same name: here `blocks` is how many parts a tensor has.
# test: tune %s --vary blocks=1,2,4 --arch a5
# check: 3 points of blocks, 3 clean
# check: best: blocks=1:
import slipring.language as pl

blocks = 2


@pl.jit
def add(x: pl.Tensor[[64, 64], pl.FP32], out: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
    for at in pl.range(0, 64, 64 // blocks):
        out[at : at + 64 // blocks, :] = x[at : at + 64 // blocks, :] + 1.0
