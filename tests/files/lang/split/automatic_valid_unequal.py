# What is valid of a product would give the second Vector core three rows less than the first one. The hardware has no transfer for
# that; where other work is divided in the middle, the rows cannot be divided otherwise.
#
# test: check %s
# exit: 2
import slipring.language as pl


@pl.jit
def f(
    a: pl.Tensor[[13, 32], pl.BF16],
    w: pl.Tensor[[32, 32], pl.BF16],
    extra: pl.Tensor[[16, 32], pl.FP32],
    y: pl.InOut[pl.Tensor[[16, 32], pl.FP32]],
    z: pl.InOut[pl.Tensor[[16, 32], pl.FP32]],
):
    with pl.at(level=pl.Level.CORE_GROUP, optimizations=[pl.split(pl.SplitMode.UP_DOWN)]):
        b = pl.slice(a, [16, 32], [0, 0], valid_shape=[13, 32])
        c = pl.matmul(b, w, out_dtype=pl.FP32)
        # error: split-valid of 13 valid rows the Vector cores would get 8 and 5
        y[:] = pl.exp(c)
        z[:] = pl.abs(extra)
