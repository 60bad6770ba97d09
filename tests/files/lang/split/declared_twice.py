# One split, said once: on the region or as the automatic one of the scope.
#
# test: check %s
# exit: 2
import slipring.language as pl


@pl.incore
def on_the_loop(x: pl.Tensor[[64, 64], pl.FP32], y: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
    # error: split-twice `pl.split_aiv` does not take `optimizations`
    for lane in pl.split_aiv(2, optimizations=[pl.split(pl.SplitMode.UP_DOWN)]):
        y[lane * 32 : lane * 32 + 32, :] = x[lane * 32 : lane * 32 + 32, :]


@pl.incore
def on_the_scope(x: pl.Tensor[[64, 64], pl.FP32], y: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
    with pl.at(level=pl.Level.CORE_GROUP, optimizations=[pl.split(pl.SplitMode.UP_DOWN)]):
        # error: split-twice the scope asks for the automatic split UP_DOWN and opens a `split_aiv` region
        for lane in pl.split_aiv(2, mode=pl.SplitMode.UP_DOWN):
            y[lane * 32 : lane * 32 + 32, :] = x[lane * 32 : lane * 32 + 32, :]


@pl.incore
def even_as_none(x: pl.Tensor[[64, 64], pl.FP32], y: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
    with pl.at(level=pl.Level.CORE_GROUP, optimizations=[pl.split(pl.SplitMode.NONE)]):
        # error: split-twice the scope asks for the automatic split NONE and opens a `split_aiv` region
        for lane in pl.split_aiv(2, mode=pl.SplitMode.UP_DOWN):
            y[lane * 32 : lane * 32 + 32, :] = x[lane * 32 : lane * 32 + 32, :]
