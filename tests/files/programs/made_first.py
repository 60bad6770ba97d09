# A tensor that is made to give a name a value, and that is a product or a sum from the first iteration on: in a scope, in blocks.
#
# args: full:f16[16x256]=1 full:f16[256x64]=2 zeros:f32[16x64] zeros:f32[16x64]
# platforms: a5, a2a3
# test: run %s --verify
# check: kernels clean
# check: tasks clean
# check: verify clean
# out[2]: f32 1024*512
# out[3]: f32 1024*8
import pypto.language as pl


@pl.jit
def main(
    x: pl.Tensor[[16, 256], pl.FP16],
    w: pl.Tensor[[256, 64], pl.FP16],
    out: pl.Out[pl.Tensor[[16, 64], pl.FP32]],
    most: pl.Out[pl.Tensor[[16, 64], pl.FP32]],
):
    for n in pl.spmd(2, name_hint="products"):
        acc = pl.create_tensor([16, 32], dtype=pl.FP32)
        for k in pl.pipeline(0, 256, 64, stage=2):
            a = x[:, k : k + 64]
            b = w[k : k + 64, n * 32 : n * 32 + 32]
            if k == 0:
                acc = pl.matmul(a, b, out_dtype=pl.FP32)
            else:
                acc = pl.matmul_acc(acc, a, b)
        out[:, n * 32 : n * 32 + 32] = acc
    with pl.at(level=pl.Level.CORE_GROUP, name_hint="sums"):
        total = pl.create_tensor([16, 64], dtype=pl.FP32)
        for k in pl.range(4):
            part = pl.cast(w[k * 16 : k * 16 + 16, :], target_type=pl.FP32)
            if k == 0:
                total = part
            else:
                total = pl.add(total, part)
        most[:, :] = total
    return out, most
