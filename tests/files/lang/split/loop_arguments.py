# A region is not a loop: it takes none of a loop's arguments.
#
# test: check %s
# exit: 2
import slipring.language as pl


@pl.incore
def init_values(x: pl.Tensor[[64, 64], pl.FP32], y: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
    # error: argument `pl.split_aiv` has no argument `init_values`
    for lane in pl.split_aiv(2, mode=pl.SplitMode.UP_DOWN, init_values=(x,)):
        y[lane * 32 : lane * 32 + 32, :] = x[lane * 32 : lane * 32 + 32, :]


@pl.incore
def chunk(x: pl.Tensor[[64, 64], pl.FP32], y: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
    # error: argument `pl.split_aiv` has no argument `chunk`
    for lane in pl.split_aiv(2, mode=pl.SplitMode.UP_DOWN, chunk=2):
        y[lane * 32 : lane * 32 + 32, :] = x[lane * 32 : lane * 32 + 32, :]


@pl.incore
def stage(x: pl.Tensor[[64, 64], pl.FP32], y: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
    # error: argument `pl.split_aiv` has no argument `stage`
    for lane in pl.split_aiv(2, mode=pl.SplitMode.UP_DOWN, stage=2):
        y[lane * 32 : lane * 32 + 32, :] = x[lane * 32 : lane * 32 + 32, :]


@pl.incore
def deps(x: pl.Tensor[[64, 64], pl.FP32], y: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
    # error: argument `pl.split_aiv` has no argument `deps`
    for lane in pl.split_aiv(2, mode=pl.SplitMode.UP_DOWN, deps=[]):
        y[lane * 32 : lane * 32 + 32, :] = x[lane * 32 : lane * 32 + 32, :]


@pl.incore
def dictionary(x: pl.Tensor[[64, 64], pl.FP32], y: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
    # error: argument `pl.split_aiv` has no argument `**`
    for lane in pl.split_aiv(2, **{}):
        y[lane * 32 : lane * 32 + 32, :] = x[lane * 32 : lane * 32 + 32, :]
