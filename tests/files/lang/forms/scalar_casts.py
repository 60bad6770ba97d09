# Numbers from one type to another by `pl.cast`: a float towards zero, an integer to more or fewer bits, a condition as 0 or 1.
#
# platforms: a5, a2a3
# test: run %s --verify --arg -1.9:f32 --arg -300:i32 --arg zeros:i32[3] --arg zeros:i64[2] --arg zeros:i8[1] --arg zeros:f32[2]
# exit: 0
# check: verify clean
# out[2]: i32 -1 1 0
# out[3]: i64 -300 4294966996
# out[4]: i8 -44
# out[5]: f32 1 0
import slipring.language as pl


@pl.jit
def f(
    x: pl.Scalar[pl.FP32],
    n: pl.Scalar[pl.INT32],
    ints: pl.Out[pl.Tensor[[3], pl.INT32]],
    longs: pl.Out[pl.Tensor[[2], pl.INT64]],
    bytes: pl.Out[pl.Tensor[[1], pl.INT8]],
    floats: pl.Out[pl.Tensor[[2], pl.FP32]],
):
    with pl.at(level=pl.Level.CORE_GROUP):
        pl.write(ints, [0], pl.cast(x, pl.INT32))
        pl.write(ints, [1], pl.cast(n < 0, pl.INT32))
        pl.write(ints, [2], pl.cast(n > 0, pl.INT32))
        pl.write(longs, [0], pl.cast(n, pl.INT64))
        pl.write(longs, [1], pl.cast(pl.cast(n, pl.UINT32), pl.INT64))
        pl.write(bytes, [0], pl.cast(n, pl.INT8))
        pl.write(floats, [0], pl.cast(x < 0.0, pl.FP32))
        pl.write(floats, [1], pl.cast(x > 0.0, pl.FP32))
