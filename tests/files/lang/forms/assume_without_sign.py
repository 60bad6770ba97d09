# A number without a sign is what it is where it is assumed about, also where its upper bit is set.
#
# args: 9223372036854775813:ui64 zeros:f32[1x8]
# test: run %s
# out[1]: f32 1 7*0
# test: run %s --arg 100:ui64 --arg zeros:f32[1x8]
# exit: 1 with assumption
# check: the arguments do not satisfy `n > 100`, which is assumed
# test: run %s --assume n<200
# exit: 1 with assumption
# check: the arguments do not satisfy `n<200`, which is assumed
import slipring.language as pl


@pl.incore
def f(n: pl.Scalar[pl.UINT64], out: pl.InOut[pl.Tensor[[1, 8], pl.FP32]]):
    pl.assume(n > 100)
    pl.write(out, [0, 0], 1.0)
