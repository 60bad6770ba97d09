# A linear layer whose ring of four whole tiles is deeper than UB. The message names the knob. Where rings lie in global memory the
# kernel runs.
#
# args: rand:f16[128x256],seed=1 rand:f16[256x128],seed=2 rand:f32[1x128],seed=3 zeros:f32[128x128]
# test: run %s --arch a5
# exit: 2
# check: 262144 bytes: ring
# check: slot_num
# test: run %s --arch a2a3 --verify
# check: verify clean
import slipring.language as pl

M, K, N = 128, 256, 128


@pl.jit
# error: memory-full `vec` is too small
def linear(
    x: pl.Tensor[[M, K], pl.FP16],
    w: pl.Tensor[[K, N], pl.FP16],
    bias: pl.Tensor[[1, N], pl.FP32],
    y: pl.Out[pl.Tensor[[M, N], pl.FP32]],
):
    with pl.at(
        level=pl.Level.CORE_GROUP,
        optimizations=[pl.split(pl.SplitMode.UP_DOWN), pl.cross_core_slot(slot_num=4)],
    ):
        y[:] = pl.col_expand_add(pl.matmul(x, w), bias)
