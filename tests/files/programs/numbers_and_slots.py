# Tasks that are passed a number beside their tensors, and whose slots the launch allocates: what is in the slots is the ring's.
#
# args: full:f16[96x256]=1 full:f16[256x128]=1 zeros:f32[1x128] zeros:f32[96x128]
# platforms: a5, a2a3
# test: run %s --verify
# check: kernels clean
# check: tasks clean
# check: verify clean
# out[3]: f32 12288*256
import pypto.language as pl


@pl.jit
def linear(
    x: pl.Tensor[[96, 256], pl.FP16],
    w: pl.Tensor[[256, 128], pl.FP16],
    bias: pl.Tensor[[1, 128], pl.FP32],
    out: pl.Out[pl.Tensor[[96, 128], pl.FP32]],
):
    for n in pl.parallel(0, 128, 64):
        with pl.at(level=pl.Level.CORE_GROUP, name_hint="linear"):
            product = pl.matmul(x, w[:, n : n + 64], out_dtype=pl.FP32)
            out[:, n : n + 64] = pl.col_expand_add(product, bias[:, n : n + 64])
    return out
