# A product whose three extents are no multiples of the parts: 20x18 ones by 18x20 twos is 36 everywhere.
#
# args: full:f16[20x18]=1 full:f16[18x20]=2 zeros:f32[20x20]
# platforms: a5, a2a3
# test: run %s --verify
# check: verify clean
# out[2]: f32 400*36
import slipring.language as pl


@pl.incore
def f(a: pl.Tensor[[20, 18], pl.FP16], b: pl.Tensor[[18, 20], pl.FP16], c: pl.Out[pl.Tensor[[20, 20], pl.FP32]]):
    for i in pl.range(0, 20, 16):
        for j in pl.range(0, 20, 16):
            acc = pl.matmul(a[i : i + 16, 0:16], b[0:16, j : j + 16])
            for k in pl.range(16, 18, 16):
                acc = pl.matmul_acc(acc, a[i : i + 16, k : k + 16], b[k : k + 16, j : j + 16])
            c[i : i + 16, j : j + 16] = acc
