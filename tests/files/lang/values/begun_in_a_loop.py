# Accumulators that the first iteration of a loop begins: by a condition of the product, and by a branch.
#
# args: full:f16[16x64]=0.5 full:f16[64x16]=2 zeros:f32[2x16x16]
# platforms: a5, a2a3
# test: run %s --verify
# check: verify clean
# out[2]: f32 512*64
import pypto.language as pl


@pl.jit
def f(
    a: pl.Tensor[[16, 64], pl.FP16],
    b: pl.Tensor[[64, 16], pl.FP16],
    y: pl.Out[pl.Tensor[[2, 16, 16], pl.FP32]],
):
    with pl.at(level=pl.Level.CORE_GROUP):
        acc = pl.create_tile([16, 16], dtype=pl.FP32, target_memory=pl.Mem.Acc)
        for k in pl.range(0, 64, 16):
            acc = pl.matmul_acc(acc, a[:, k : k + 16], b[k : k + 16, :], init_cond=(k == 0))
        y[0] = acc
        other = pl.create_tile([16, 16], dtype=pl.FP32, target_memory=pl.Mem.Acc)
        for k in pl.range(0, 64, 16):
            if k == 0:
                other = pl.matmul(a[:, k : k + 16], b[k : k + 16, :])
            else:
                other = pl.matmul_acc(other, a[:, k : k + 16], b[k : k + 16, :])
        y[1] = other
    return y
