# Slots in global memory have a place each in the consumer's memory, too: 8 of 131072 bytes do not fit L1, wherever the ring is.
#
# test: check %s --arch a5
# exit: 2
# test: check %s --arch a2a3
# exit: 2
import slipring.language as pl


@pl.jit
# error: memory-full `mat` is too small
def f(
    x: pl.Tensor[[128, 512], pl.BF16],
    q: pl.Tensor[[16, 512], pl.BF16],
    y: pl.Out[pl.Tensor[[16, 128], pl.FP32]],
):
    with pl.at(level=pl.Level.CORE_GROUP, optimizations=[pl.cross_core_slot(slot_num=8)]):
        for lane in pl.split_aiv(2, mode=pl.SplitMode.UP_DOWN):
            k = pl.aic_gather(pl.load(x, [lane * 64, 0], [64, 512]))
        y[:] = pl.matmul(q, k, b_trans=True, out_dtype=pl.FP32)
