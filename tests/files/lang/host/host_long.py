# Host code goes on for as long as Python would: lists of more than 65536 values, loops of many iterations. Names of a kernel
# for one long list hold it together. A set is looked up in a set as the frozen one that it is equal to.
#
# test: run %s
# args: full:f32[16x64]=0.0 zeros:f32[16x64]
# out[1]: f32 1024*63600.96
import slipring.language as pl

S = sum([i for i in range(80000)]) / 1.0e6
L = [1] * 100000
COUNT = 0
for i in range(300000):
    COUNT += 1
N = len(L) / 1000 + COUNT / 1000.0
IN = 1.0 if {1} in {1, 2} or {1} not in [{1}] else 2.0
SOME = [float(i) for i in range(60000)]


@pl.incore
def k(a: pl.Tensor[[16, 64], pl.FP32], out: pl.Out[pl.Tensor[[16, 64], pl.FP32]]):
    one = SOME
    two = one
    three = two
    out[:, :] = a[:, :] + (S + N + IN + three[59999])
