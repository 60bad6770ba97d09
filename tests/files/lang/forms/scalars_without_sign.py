# Numbers without a sign are compared, divided, shifted and converted without one, also where their upper bit is set.
#
# args: 200:ui8 100:ui8 9223372036854775813:ui64 3:ui64 iota:f32[1x256] zeros:ui8[1x32] zeros:ui64[1x8] zeros:f32[1x8]
# test: run %s --verify
# check: verify clean
# out[5]: ui8 44 2 4 25 200 100 1 0 1 50 22*0
# out[6]: ui64 3074457345618258604 1 4611686018427387906 9223372036854775813 1 0 0 0
# out[7]: f32 200 200 4 9223372036854775808 200 0 0 0
import slipring.language as pl


@pl.incore
def f(
    n: pl.Scalar[pl.UINT8],
    m: pl.Scalar[pl.UINT8],
    big: pl.Scalar[pl.UINT64],
    w: pl.Scalar[pl.UINT64],
    table: pl.Tensor[[1, 256], pl.FP32],
    out: pl.InOut[pl.Tensor[[1, 32], pl.UINT8]],
    wide: pl.InOut[pl.Tensor[[1, 8], pl.UINT64]],
    floats: pl.InOut[pl.Tensor[[1, 8], pl.FP32]],
):
    pl.write(out, [0, 0], n + m)
    pl.write(out, [0, 1], n // m)
    pl.write(out, [0, 2], n % 7)
    pl.write(out, [0, 3], n >> 3)
    pl.write(out, [0, 4], max(n, m))
    pl.write(out, [0, 5], min(n, m))
    pl.write(out, [0, 6], 1 if n > m else 0)
    pl.write(out, [0, 7], 1 if n - m - m - m < m else 0)
    pl.write(out, [0, 8], (n + n) // m)
    pl.write(out, [0, 9], n % 150)
    pl.write(wide, [0, 0], big // w)
    pl.write(wide, [0, 1], big % w)
    pl.write(wide, [0, 2], big >> 1)
    pl.write(wide, [0, 3], max(big, w))
    pl.write(wide, [0, 4], 1 if w < big else 0)
    pl.write(floats, [0, 0], pl.read(table, [0, n]))
    pl.write(floats, [0, 1], pl.read(table, [0, m + m]))
    pl.write(floats, [0, 2], pl.read(table, [0, n + 60]))
    pl.write(floats, [0, 3], pl.cast(big, pl.FP32))
    pl.write(floats, [0, 4], pl.cast(m + m, pl.FP32))
