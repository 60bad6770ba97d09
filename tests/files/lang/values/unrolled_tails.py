# Slices in iterations that are written out end where their dimension does, as in a loop of the run.
#
# args: iota:f32[2x10] zeros:f32[2x10] zeros:f32[2x1]
# platforms: a5, a2a3
# test: run %s --verify
# check: verify clean
# out[1]: f32 0 2 4 6 8 10 12 14 16 18 20 22 24 26 28 30 32 34 36 38
# out[2]: f32 45 145
import slipring.language as pl


@pl.incore
def unrolled_tails(
    x: pl.Tensor[[2, 10], pl.FP32],
    out: pl.InOut[pl.Tensor[[2, 10], pl.FP32]],
    sums: pl.InOut[pl.Tensor[[2, 1], pl.FP32]],
):
    total = pl.full([2, 1], dtype=pl.FP32, value=0.0)
    for i in pl.unroll(3):
        t = x[:, i * 4 : i * 4 + 4]
        out[:, i * 4 : i * 4 + 4] = t * 2.0
        total = total + pl.row_sum(t)
    sums[:, :] = total
    return out, sums
