# A prefetch takes a tensor of one row, and what the other words of prefetches give.
#
# test: check %s
# exit: 2
import slipring.language as pl


@pl.incore
def kernel(x: pl.Tensor[[16, 16], pl.FP32], y: pl.Out[pl.Tensor[[16, 16], pl.FP32]]):
    ctx = pl.prefetch.make_context()
    # error: shapes a prefetch of a tensor [16, 16]
    pl.prefetch.async_prefetch(x, ctx)
    # error: argument `ctx` of `pl.prefetch.async_prefetch` is a prefetch context
    pl.prefetch.async_prefetch(x[0:1, :], 3)
    pl.store(pl.load(x, [0, 0], [16, 16]), [0, 0], y)
