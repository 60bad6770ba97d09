# The automatic split refuses to exchange the divided axis.
#
# test: run %s
# exit: 2
import slipring.language as pl


@pl.incore
def f(a: pl.Tensor[[64, 64], pl.FP16], y: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
    with pl.at(level=pl.Level.CORE_GROUP, optimizations=[pl.split(pl.SplitMode.UP_DOWN)]):
        # error: auto-split the rows of `%exp` cannot be divided between the Vector cores: `pto.ttrans` makes columns of them
        y[:] = pl.transpose(pl.exp(pl.matmul(a, a)))
