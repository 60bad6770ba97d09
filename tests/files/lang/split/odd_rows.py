# An odd number of rows cannot be divided evenly.
#
# test: check %s
# exit: 2
import slipring.language as pl


@pl.incore
def f(a: pl.Tensor[[33, 64], pl.FP16], b: pl.Tensor[[64, 64], pl.FP16], y: pl.Out[pl.Tensor[[33, 64], pl.FP32]]):
    c = pl.matmul(a, b)
    for lane in pl.split_aiv(2, mode=pl.SplitMode.UP_DOWN):
        # error: split-odd 33 rows cannot be divided evenly between two Vector cores
        y[0:17, :] = pl.aiv_shard(c)
