# A region inside a region, directly and below a loop.
#
# test: check %s
# exit: 2
import slipring.language as pl


@pl.incore
def directly(x: pl.Tensor[[64, 64], pl.FP32], y: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
    for lane in pl.split_aiv(2, mode=pl.SplitMode.UP_DOWN):
        # error: nested-region a `split_aiv` region inside another one
        for other in pl.split_aiv(2, mode=pl.SplitMode.LEFT_RIGHT):
            y[lane * 32 : lane * 32 + 32, :] = x[lane * 32 : lane * 32 + 32, :]


@pl.incore
def below_a_loop(x: pl.Tensor[[64, 64], pl.FP32], y: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
    for lane in pl.split_aiv(2, mode=pl.SplitMode.UP_DOWN):
        for i in pl.range(2):
            if i > 0:
                # error: nested-region a `split_aiv` region inside another one
                for other in pl.split_aiv(2, mode=pl.SplitMode.UP_DOWN):
                    y[lane * 32 : lane * 32 + 32, :] = x[lane * 32 : lane * 32 + 32, :]
