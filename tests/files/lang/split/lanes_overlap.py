# Both lanes store into the same rows: without the lane in the offset, and with too small a step.
#
# test: check %s
# exit: 2
import slipring.language as pl


@pl.incore
def the_same(a: pl.Tensor[[64, 64], pl.FP16], y: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
    c = pl.matmul(a, a)
    for lane in pl.split_aiv(2, mode=pl.SplitMode.UP_DOWN):
        # error: lanes-overlap both Vector cores write the same bytes with this `tstore`
        y[0:32, :] = pl.aiv_shard(c)


@pl.incore
def in_pieces(a: pl.Tensor[[64, 64], pl.FP16], y: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
    c = pl.matmul(a, a)
    for lane in pl.split_aiv(2, mode=pl.SplitMode.UP_DOWN):
        half = pl.aiv_shard(c) * 2.0
        for r0 in pl.unroll(0, 32, 16):
            # error: lanes-overlap both Vector cores write the same bytes with this `tstore`
            y[r0 : r0 + 16, :] = half[r0 : r0 + 16, :]


@pl.incore
def too_small_a_step(a: pl.Tensor[[64, 64], pl.FP16], y: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
    c = pl.matmul(a, a)
    for lane in pl.split_aiv(2, mode=pl.SplitMode.UP_DOWN):
        # error: lanes-overlap the lanes' windows overlap: each is 32 long, and lane 1's starts 16 after lane 0's
        y[lane * 16 : lane * 16 + 32, :] = pl.aiv_shard(c)
