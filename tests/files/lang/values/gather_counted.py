# Elements by index of rows and columns of which only the run knows how many count: the others are neither read nor given.
#
# platforms: a5, a2a3
# args: full:i32[1x8]=3 iota:f32[4x8] zeros:f32[4x8] zeros:f32[4x8]
# test: run %s --verify
# check: verify clean
# out[2]: f32 7 6 5 4 3 2 1 0 15 14 13 12 11 10 9 8 23 22 21 20 19 18 17 16 8*0
# out[3]: f32 7 6 5 5*0 15 14 13 5*0 23 22 21 5*0 31 30 29 5*0
import pypto.language as pl


@pl.jit
def kernel(
    n: pl.Tensor[[1, 8], pl.INT32],
    x: pl.Tensor[[4, 8], pl.FP32],
    rows: pl.InOut[pl.Tensor[[4, 8], pl.FP32]],
    cols: pl.InOut[pl.Tensor[[4, 8], pl.FP32]],
):
    with pl.at(level=pl.Level.CORE_GROUP):
        count = pl.read(n, [0, 0])
        lane = pl.col_expand(pl.full([4, 8], pl.INT32, 0), pl.arange(0, [1, 8], dtype=pl.INT32))
        back = pl.sub(pl.full([4, 8], pl.INT32, 7), lane)
        some = pl.load(x, [0, 0], [4, 8], valid_shape=[count, 8])
        pl.store(pl.gather(some, dim=-1, index=back), [0, 0], rows)
        pl.store(pl.gather(x[:, :], dim=-1, index=pl.set_validshape(back, 4, count)), [0, 0], cols)
    return rows, cols
