# A kernel for both kinds of core with two pipes in one direction: tiles of another shape and type each, told apart by `id`.
# TPUSH and TPOP without a direction take it from where the tile lies, and from what has been pushed.
#
# platforms: a5, a2a3
# test: run %s --verify
# check: memory clean
# check: race clean
# check: init clean
# check: verify clean
# out[2]: f32 512*4.0
# out[3]: f32 256*2.0
# args: full:f32[32x16]=0.25 full:f32[16x16]=0.5 zeros:f32[32x16] zeros:f32[16x16]
import slipring.language as pl


@pl.incore
def both(
    x: pl.Tensor[[32, 16], pl.FP32],
    w: pl.Tensor[[16, 16], pl.FP32],
    y: pl.Out[pl.Tensor[[32, 16], pl.FP32]],
    z: pl.Out[pl.Tensor[[16, 16], pl.FP32]],
):
    TPUSH(pl.matmul(x, w))
    TPUSH(pl.matmul(x[0:16, :], w), id=1)
    small = TPOP(id=1)
    large = TPOP()
    z[:] = small
    y[:] = large * 2.0
    TFREE(small)
    TFREE(large)
