# Negative numbers that the assumptions allow are run, too, if they limit them.
#
# args: iota:f32[64x64] 4:i32 zeros:f32[8x64]
# platforms: a5, a2a3
# test: prove %s --func but_one
# exit: 1
# check: violated
# check: counts n = -3 fails
# check: replay: `slipring run … --arg n=-3:i32`
# check: error[assert]: `n != -3` does not hold; n = -3
# test: prove %s --func all_of_them
# check: proved
# check: counts every n from -5 on with `n >= -5` and `n <= 4`: each of them was run, up to 4
# test: prove %s --func two
# exit: 2
# check: not proved
# check: those of 0 to 256 that the assumptions allow are clean, but nothing was shown for larger ones: the assumptions allow too few to compare
import slipring.language as pl


@pl.incore
def but_one(x: pl.Tensor[[64, 64], pl.FP32], n: pl.Scalar[pl.INT32], y: pl.InOut[pl.Tensor[[8, 64], pl.FP32]]):
    pl.assume(n >= -5, n <= 4)
    assert n != -3
    y[0:1, :] = x[0:1, :] * 2.0


@pl.incore
def all_of_them(x: pl.Tensor[[64, 64], pl.FP32], n: pl.Scalar[pl.INT32], y: pl.InOut[pl.Tensor[[8, 64], pl.FP32]]):
    pl.assume(n >= -5, n <= 4)
    assert n != -6
    y[0:1, :] = x[0:1, :] * 2.0


@pl.incore
def two(x: pl.Tensor[[64, 64], pl.FP32], n: pl.Scalar[pl.INT32], y: pl.InOut[pl.Tensor[[8, 64], pl.FP32]]):
    pl.assume(n * n == 16)
    assert n == 4
    y[0:1, :] = x[0:1, :] * 2.0
