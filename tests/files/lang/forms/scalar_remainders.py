# Remainders of numbers have the sign of the divisor, as in Python, up to the largest numbers of a type.
#
# args: 1:i8 127:i8 -100:i8 -128:i8 5000000000000000001:i64 -9000000000000000000:i64 zeros:i8[1x32] zeros:i64[1x4]
# test: run %s --verify
# check: verify clean
# out[6]: i8 1 126 -127 27 -73 -100 126 1 26 5 -2 0 20*0
# out[7]: i64 -3999999999999999999 4999999999999999997 5000000000000000001 0
import slipring.language as pl


@pl.incore
def f(
    a: pl.Scalar[pl.INT8],
    b: pl.Scalar[pl.INT8],
    c: pl.Scalar[pl.INT8],
    d: pl.Scalar[pl.INT8],
    x: pl.Scalar[pl.INT64],
    y: pl.Scalar[pl.INT64],
    out: pl.InOut[pl.Tensor[[1, 32], pl.INT8]],
    wide: pl.InOut[pl.Tensor[[1, 4], pl.INT64]],
):
    pl.write(out, [0, 0], a % b)
    pl.write(out, [0, 1], -a % b)
    pl.write(out, [0, 2], a % d)
    pl.write(out, [0, 3], c % b)
    pl.write(out, [0, 4], b % c)
    pl.write(out, [0, 5], c % d)
    pl.write(out, [0, 6], d % b)
    pl.write(out, [0, 7], c % 101)
    pl.write(out, [0, 8], b % 101)
    pl.write(out, [0, 9], c % 7)
    pl.write(out, [0, 10], b // c)
    pl.write(out, [0, 11], (a - a) % c)
    pl.write(wide, [0, 0], x % y)
    pl.write(wide, [0, 1], -4 % x)
    pl.write(wide, [0, 2], x % 6000000000000000000)
