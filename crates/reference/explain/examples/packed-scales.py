# slipring check FILE
import pypto.language as pl
@pl.jit
def scaled(
    a: pl.Tensor[[48, 128], pl.FP8E4M3FN],
    a_scale: pl.Tensor[[48, 4], pl.FP8E8M0, pl.MX_A_ZZ],
    b: pl.Tensor[[128, 64], pl.FP8E4M3FN],
    b_scale: pl.Tensor[[4, 64], pl.FP8E8M0, pl.MX_B_NN],
    bias: pl.Tensor[[1, 64], pl.FP32],
    twice: pl.Out[pl.Tensor[[48, 64], pl.FP32]],
    biased: pl.Out[pl.Tensor[[48, 64], pl.FP32]],
):
    left = pl.move(pl.load(a, [0, 0], [48, 128], target_memory=pl.Mem.Mat), target_memory=pl.Mem.Left)
    right = pl.move(pl.load(b, [0, 0], [128, 64], target_memory=pl.Mem.Mat), target_memory=pl.Mem.Right)
    left_scale = pl.move(
        pl.load(a_scale, [0, 0], [48, 4], target_memory=pl.Mem.Mat), target_memory=pl.Mem.LeftScale
    )
    right_scale = pl.move(
        pl.load(b_scale, [0, 0], [4, 64], target_memory=pl.Mem.Mat), target_memory=pl.Mem.RightScale
    )
    acc = pl.matmul_mx(left, left_scale, right, right_scale)
    pl.store(acc, [0, 0], twice)
    pl.store(pl.matmul_mx_bias(left, left_scale, right, right_scale, bias), [0, 0], biased)
