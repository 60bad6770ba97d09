# A tile is stored into a tensor of its own element type.
#
# test: check %s
# exit: 2
import slipring.language as pl


@pl.incore
def f(x: pl.Tensor[[64, 64], pl.FP32], y: pl.Out[pl.Tensor[[64, 64], pl.FP16]]):
    # error: store-type an FP32 tile is stored into an FP16 tensor
    y[:] = pl.exp(x)
