# The two orders of arguments of `pl.sels`, with and without working memory, and the public names.
#
# args: iota:f32[2x16] zeros:f32[2x16] zeros:f32[2x16] zeros:f32[2x16] zeros:f32[2x16]
# test: run %s --verify
# check: verify clean
# out[1]: f32 21*-7 21 22 23 24 25 26 27 28 29 30 31
# out[2]: f32 21*-7 21 22 23 24 25 26 27 28 29 30 31
# out[3]: f32 21*-7 21 22 23 24 25 26 27 28 29 30 31
# out[4]: f32 21*-7 21 22 23 24 25 26 27 28 29 30 31
# test: run %s --arch a2a3 --verify
# check: verify clean
# out[1]: f32 21*-7 21 22 23 24 25 26 27 28 29 30 31
# out[2]: f32 21*-7 21 22 23 24 25 26 27 28 29 30 31
# out[3]: f32 21*-7 21 22 23 24 25 26 27 28 29 30 31
# out[4]: f32 21*-7 21 22 23 24 25 26 27 28 29 30 31
import slipring.language as pl


@pl.incore
def f(
    x: pl.Tensor[[2, 16], pl.FP32],
    public: pl.Out[pl.Tensor[[2, 16], pl.FP32]],
    last: pl.Out[pl.Tensor[[2, 16], pl.FP32]],
    without: pl.Out[pl.Tensor[[2, 16], pl.FP32]],
    named: pl.Out[pl.Tensor[[2, 16], pl.FP32]],
):
    t = pl.load(x, [0, 0], [2, 16])
    tmp = pl.create_tile([1, 32], dtype=pl.UINT8)
    m = pl.cmps(t, 20.0, cmp_type="gt")
    public[:] = pl.sels(m, t, tmp, -7.0)
    last[:] = pl.sels(m, t, -7.0, tmp)
    without[:] = pl.sels(m, t, -7.0)
    named[:] = pl.sels(mask=m, src=t, tmp=tmp, scalar=-7.0)
