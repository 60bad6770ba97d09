# The product that everybody writes first, with tails in all three extents: 20x18 ones by 18x20 twos is 36 everywhere.
# platforms: a5, a2a3
# test: run %s --verify --arg full:f16[20x18]=1 --arg full:f16[18x20]=2 --arg zeros:f32[20x20] --arg zeros:f32[20x20]
# check: verify clean
# out[2]: f32 400*36
# out[3]: f32 400*37
import slipring.language as pl


@pl.incore
def f(
    a: pl.Tensor[[20, 18], pl.FP16],
    b: pl.Tensor[[18, 20], pl.FP16],
    c: pl.Out[pl.Tensor[[20, 20], pl.FP32]],
    d: pl.Out[pl.Tensor[[20, 20], pl.FP32]],
):
    for i in pl.range(0, 20, 32):
        for j in pl.range(0, 20, 16):
            acc = pl.zeros([32, 16], pl.FP32)
            for k in pl.range(0, 18, 16):
                acc += a[i : i + 32, k : k + 16] @ b[k : k + 16, j : j + 16]
            c[i : i + 32, j : j + 16] = acc
    for i in pl.range(0, 20, 16):
        d[i : i + 16, :] = pl.relu(a[i : i + 16, :] @ b) + 1.0
