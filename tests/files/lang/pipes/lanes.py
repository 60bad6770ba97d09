# Both Vector cores run a kernel for both kinds of core that divides what it pushes by hand.
#
# platforms: a5, a2a3
# test: run %s --verify
# check: memory clean
# check: race clean
# check: init clean
# check: verify clean
# out[2]: f32 512*3.0
# args: full:f32[32x16]=0.25 full:f32[16x16]=0.5 zeros:f32[32x16]
import slipring.language as pl


@pl.incore
def both(
    x: pl.Tensor[[32, 16], pl.FP32],
    w: pl.Tensor[[16, 16], pl.FP32],
    y: pl.Out[pl.Tensor[[32, 16], pl.FP32]],
):
    pl.tpush_to_aiv(pl.matmul(x, w), split=1)
    half = pl.tpop_from_aic(shape=[16, 16], dtype=pl.FP32, split=1)
    row = pl.get_subblock_idx() * 16
    y[row : row + 16, :] = half + 1.0
    pl.tfree_to_aic(half)
