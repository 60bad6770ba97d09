# A prefetch is a hint: the results are the same without it. It takes a tensor of one row.
#
# platforms: a5, a2a3
# test: run %s --func kernel --arg iota:f32[1x256] --arg zeros:f32[1x64] --verify
# out[1]: f32 1 2 3 4 5 6 …
# test: run %s --func done --arg iota:f32[256] --arg zeros:f32[1x64] --verify
# out[1]: f32 64*1
import slipring.language as pl


@pl.incore
def kernel(x: pl.Tensor[[1, 256], pl.FP32], y: pl.Out[pl.Tensor[[1, 64], pl.FP32]]):
    ctx = pl.prefetch.make_context()
    evt = pl.prefetch.async_prefetch(x, ctx)
    session = pl.prefetch.session(ctx)
    pl.prefetch.wait(evt, session)
    pl.store(pl.add(pl.load(x, [0, 0], [1, 64]), 1.0), [0, 0], y)


@pl.incore
def done(x: pl.Tensor[[256], pl.FP32], y: pl.Out[pl.Tensor[[1, 64], pl.FP32]]):
    ctx = pl.prefetch.make_context()
    evt = pl.prefetch.async_prefetch(src=x, ctx=ctx)
    there = pl.prefetch.wait(evt, pl.prefetch.session(ctx))
    pl.store(pl.full([1, 64], dtype=pl.FP32, value=1.0 if there else 0.0), [0, 0], y)
