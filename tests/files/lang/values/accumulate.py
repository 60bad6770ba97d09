# Products added up in the accumulator, in a loop; a bias for each column; both operands transposed.
# a is 16x32 ones, b is 32x16 twos: each element of a @ b is 64.
#
# args: full:f16[16x32]=1 full:f16[32x16]=2 iota:f32[1x16] zeros:f32[16x16] zeros:f32[16x16] zeros:f32[32x32]
# platforms: a5, a2a3
# test: run %s --verify
# check: verify clean
# out[3]: f32 256*256
# out[4]: f32 64 65 66 67 68 69 70 71 72 73 74 75 76 77 78 79 64 65 …
# out[5]: f32 1024*32
import slipring.language as pl


@pl.incore
def f(
    a: pl.Tensor[[16, 32], pl.FP16],
    b: pl.Tensor[[32, 16], pl.FP16],
    bias: pl.Tensor[[1, 16], pl.FP32],
    sums: pl.Out[pl.Tensor[[16, 16], pl.FP32]],
    biased: pl.Out[pl.Tensor[[16, 16], pl.FP32]],
    transposed: pl.Out[pl.Tensor[[32, 32], pl.FP32]],
):
    acc = pl.matmul(a, b)
    for i in pl.range(2):
        acc = pl.matmul_acc(acc, a, b)
    acc = pl.matmul_acc(acc, a[:, 0:16], b[0:16, :])
    acc = pl.matmul_acc(acc, a[:, 16:32], b[16:32, :])
    sums[:] = acc
    biased[:] = pl.matmul_bias(a, b, bias)
    transposed[:] = pl.matmul(a, b, a_trans=True, b_trans=True)
