# Scales: their shape, where they come from, what they belong to.
#
# test: check %s --arch a5
# exit: 2
import pypto.language as pl


@pl.jit
def scaled(
    a: pl.Tensor[[32, 128], pl.FP8E4M3FN],
    h: pl.Tensor[[32, 128], pl.FP16],
    a_scale: pl.Tensor[[32, 4], pl.FP8E8M0, pl.MX_A_ZZ],
    few: pl.Tensor[[32, 2], pl.FP8E8M0, pl.MX_A_ZZ],
    rows: pl.Tensor[[32, 4], pl.FP8E8M0],
    b: pl.Tensor[[128, 32], pl.FP8E4M3FN],
    g: pl.Tensor[[128, 32], pl.FP16],
    b_scale: pl.Tensor[[4, 32], pl.FP8E8M0, pl.MX_B_NN],
    out: pl.Out[pl.Tensor[[32, 32], pl.FP32]],
):
    # error: shapes scales [32, 2] of an operand [32, 128]
    c = pl.matmul_mx(a, few, b, b_scale)
    # error: tile-layout these are not scales for `left_scale`
    c = pl.matmul_mx(a, rows, b, b_scale)
    # error: argument a product with scales of FP16 over k = 128
    c = pl.matmul_mx(h, a_scale, g, b_scale)
    # error: packed-scales packed scales of `a_scale` are not loaded like this
    part = pl.load(a_scale, [0, 0], [16, 4], target_memory=pl.Mem.Mat)
    c = pl.matmul_mx(a, a_scale, b, b_scale)
    pl.store(c, [0, 0], out)
