# A cluster has two Vector cores, no more and no fewer.
#
# test: check %s
# exit: 2
import slipring.language as pl


@pl.incore
def four(x: pl.Tensor[[64, 64], pl.FP32], y: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
    # error: split-lanes `pl.split_aiv(4)`: a cluster has two Vector cores
    for lane in pl.split_aiv(4, mode=pl.SplitMode.UP_DOWN):
        y[lane * 16 : lane * 16 + 16, :] = x[lane * 16 : lane * 16 + 16, :]


@pl.incore
def one(x: pl.Tensor[[64, 64], pl.FP32], y: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
    # error: split-lanes `pl.split_aiv(1)`: a cluster has two Vector cores
    for lane in pl.split_aiv(1, mode=pl.SplitMode.UP_DOWN):
        y[:] = x


@pl.incore
def unknown(x: pl.Tensor[[64, 64], pl.FP32], y: pl.Out[pl.Tensor[[64, 64], pl.FP32]], n: pl.Scalar[pl.INT32]):
    # error: not-constant the number of Vector cores must be a constant integer, this is a scalar of type INT32
    for lane in pl.split_aiv(n, mode=pl.SplitMode.UP_DOWN):
        y[lane * 32 : lane * 32 + 32, :] = x[lane * 32 : lane * 32 + 32, :]


@pl.incore
def two_numbers(x: pl.Tensor[[64, 64], pl.FP32], y: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
    # error: argument `pl.split_aiv` takes one number, the Vector cores
    for lane in pl.split_aiv(0, 2, mode=pl.SplitMode.UP_DOWN):
        y[lane * 32 : lane * 32 + 32, :] = x[lane * 32 : lane * 32 + 32, :]


@pl.incore
def by_name(x: pl.Tensor[[64, 64], pl.FP32], y: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
    # error: split-lanes `pl.split_aiv(4)`: a cluster has two Vector cores
    for lane in pl.split_aiv(n=4, mode=pl.SplitMode.UP_DOWN):
        y[lane * 16 : lane * 16 + 16, :] = x[lane * 16 : lane * 16 + 16, :]


@pl.incore
def by_name_twice(x: pl.Tensor[[64, 64], pl.FP32], y: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
    # error: argument the number of Vector cores is given twice
    for lane in pl.split_aiv(2, n=2, mode=pl.SplitMode.UP_DOWN):
        y[lane * 32 : lane * 32 + 32, :] = x[lane * 32 : lane * 32 + 32, :]
