# Choices that exclude each other are followed, too: that nothing is written on some path is said as what it is.
#
# args: rand:f32[32x64],seed=1 3:i32 2:i32 zeros:f32[32x64]
# test: prove %s --arch a5
# check: proved: k on a5
# check: with some paths through loops and branches (perhaps none that an argument takes) nothing of `out` is written
import slipring.language as pl


@pl.incore
def k(
    x: pl.Tensor[[32, 64], pl.FP32],
    n: pl.Scalar[pl.INT32],
    m: pl.Scalar[pl.INT32],
    out: pl.Out[pl.Tensor[[32, 64], pl.FP32]],
):
    for i in pl.range(n):
        if i % 4 == m % 4:
            out[:, :] = x[:, :]
    if n <= m % 4:
        out[:, :] = x[:, :]
