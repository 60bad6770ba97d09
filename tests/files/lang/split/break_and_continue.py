# A region runs once on each lane: there is nothing to leave early.
#
# test: check %s
# exit: 2
import slipring.language as pl


@pl.incore
def leave(x: pl.Tensor[[64, 64], pl.FP32], y: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
    for lane in pl.split_aiv(2, mode=pl.SplitMode.UP_DOWN):
        y[lane * 32 : lane * 32 + 32, :] = x[lane * 32 : lane * 32 + 32, :]
        # error: loop `break` and `continue` inside a `split_aiv` region
        break


@pl.incore
def go_on(x: pl.Tensor[[64, 64], pl.FP32], y: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
    for lane in pl.split_aiv(2, mode=pl.SplitMode.UP_DOWN):
        # error: loop `break` and `continue` inside a `split_aiv` region
        continue
