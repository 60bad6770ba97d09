# test: run %s --arg full:f32[6x16]=2.0 --arg zeros:f32[6x16]
# out[1]: f32 96*12.0
# test: run %s --arg x=full:f32[2x16]=1.0 --arg out=zeros:f32[2x16]
# out[1]: f32 32*2.0
# test: run %s --arg full:f32[6x16]=2.0 --arg zeros:f32[5x16]
# exit: 2
# check: for %out: 320 bytes, where 384 are expected, f32[6x16]
# test: check %s
# exit: 2 with parameter 2
# check: the extent `N` (`pl.dynamic`) is not known
import pypto.language as pl

N = pl.dynamic("N")


@pl.jit
def kernel(x: pl.Tensor[[N, 16], pl.FP32], out: pl.Out[pl.Tensor[[N, 16], pl.FP32]]):
    for i in pl.range(N):
        out[i : i + 1, :] = x[i : i + 1, :] * N
