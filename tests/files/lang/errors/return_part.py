# What a kernel cannot give back: a part of a tensor whose place is only known when it runs. Others are given back as such a part.
#
# test: check %s
# exit: 2
import slipring.language as pl


@pl.incore
def moved(x: pl.Tensor[[64, 64], pl.FP32], y: pl.Out[pl.Tensor[[64, 64], pl.FP32]], n: pl.Scalar[pl.INDEX]):
    y[:] = x
    # error: return-tile a kernel cannot return a part whose place or size is only known when it runs
    return y[n : n + 8, :]


@pl.incore
def fixed(x: pl.Tensor[[64, 64], pl.FP32], y: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
    y[:] = x
    return y[8:16, :], pl.reshape(y, [32, 128])
