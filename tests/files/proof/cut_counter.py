# A counter cut to 8 bits repeats after 256 iterations: it decides otherwise for launches longer than those that were run, and a loop
# up to a number over 255 never ends.
#
# args: iota:f32[8x64] 3:i32 zeros:f32[8x64]
# test: prove %s --func decided --arch a5
# exit: 2
# check: not proved
# check: n may decide otherwise with another value
# test: prove %s --func asserted --arch a5
# exit: 1
# check: violated
# check: counts n = 129 is the smallest that fails; 0 to 128 are clean
# check: error[assert]: `j >= 0` does not hold
# test: prove %s --func counted --arch a5
# exit: 2
# check: not proved
# check: may not terminate: its trip count depends on an argument
# test: run %s --func decided --arch a5 --arg n=300:i32
# exit: 1
# check: error[memory-bounds]: `x[9:10, :]` is outside of `x[8, 64]`
import slipring.language as pl


@pl.incore
def decided(x: pl.Tensor[[8, 64], pl.FP32], n: pl.Scalar[pl.INT32], y: pl.InOut[pl.Tensor[[8, 64], pl.FP32]]):
    for i in pl.range(n):
        j = pl.cast(i, pl.UINT8)
        if pl.cast(j, pl.INT32) == i:
            y[0:1, :] = x[0:1, :] + 1.0
        else:
            y[0:1, :] = x[9 + j : 10 + j, :] + 1.0


@pl.incore
def asserted(x: pl.Tensor[[8, 64], pl.FP32], n: pl.Scalar[pl.INT32], y: pl.InOut[pl.Tensor[[8, 64], pl.FP32]]):
    for i in pl.range(n):
        j = pl.cast(i, pl.INT8)
        assert j >= 0
        y[0:1, :] = x[0:1, :] + 1.0


@pl.incore
def counted(x: pl.Tensor[[8, 64], pl.FP32], n: pl.Scalar[pl.INT32], y: pl.InOut[pl.Tensor[[8, 64], pl.FP32]]):
    i = 0
    while pl.cast(pl.cast(i, pl.UINT8), pl.INT32) < n:
        y[0:1, :] = x[0:1, :] + 1.0
        i = i + 1
