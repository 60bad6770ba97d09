# A source that is read afterwards keeps its place, and so does one that a row is taken from.
# test: check %s --arch a2a3
# exit: 2
import slipring.language as pl


@pl.jit
def kernel(
    a: pl.Tensor[[128, 160], pl.FP32],
    b: pl.Tensor[[128, 160], pl.FP32],
    c: pl.Out[pl.Tensor[[128, 160], pl.FP32]],
):
    x = pl.load(a, [0, 0], [128, 160])  # error: memory-full `vec` is too small: 245760 bytes are in use at the same time
    y = pl.load(b, [0, 0], [128, 160])
    s = x + y
    pl.store(s * x * y, [0, 0], c)
