# The load that is needed first stands last.
# test: tune %s --auto --arch a5
# check: `y = pl.load(b, [0, 0], [64, 128])` is moved before line 14
# check: the same bytes as before and as the sequential semantics; `prove`: proved
# check: +    y = pl.load(b, [0, 0], [64, 128])
# check: -    y = pl.load(b, [0, 0], [64, 128])
import slipring.language as pl

S, T = pl.FP32, pl.Tensor


@pl.incore
def late(a: T[[64, 128], S], b: T[[64, 128], S], c: pl.Out[T[[64, 128], S]], d: pl.Out[T[[64, 128], S]]):
    x = pl.load(a, [0, 0], [64, 128])
    y = pl.load(b, [0, 0], [64, 128])
    d[:] = pl.exp(pl.exp(pl.exp(y)))
    c[:] = pl.exp(pl.exp(pl.exp(x)))
