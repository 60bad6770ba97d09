# What a named view says of a tensor holds, or is an error, as in the type itself.
#
# test: check %s
# exit: 2
import pypto.language as pl

WITH_GAPS = pl.TensorView(stride=[128, 1], layout=pl.TensorLayout.ND)


@pl.function(type=pl.FunctionType.InCore)
# error: type-argument `stride=WITH_GAPS` of `pl.TensorView` is not what this is: [2, 64]
def copied(x: pl.Tensor[[2, 64], pl.FP32, WITH_GAPS], y: pl.Out[pl.Tensor[[2, 64], pl.FP32]]):
    y = pl.store(pl.load(x, [0, 0], [2, 64]), [0, 0], y)
    return y
