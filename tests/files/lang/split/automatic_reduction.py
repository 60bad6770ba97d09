# The automatic split refuses what a lane's half cannot give: a reduction along the divided axis.
#
# test: run %s
# exit: 2
import slipring.language as pl


@pl.incore
def f(a: pl.Tensor[[64, 64], pl.FP16], y: pl.Out[pl.Tensor[[64, 1], pl.FP32]]):
    with pl.at(level=pl.Level.CORE_GROUP, optimizations=[pl.split(pl.SplitMode.LEFT_RIGHT)]):
        # error: auto-split the columns of `%matmul_vec` cannot be divided between the Vector cores: `pto.trowmax` combines all columns
        y[:] = pl.row_max(pl.matmul(a, a))
