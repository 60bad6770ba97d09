# Additions to the same bytes by both lanes are no race. What depends on their order is how floats are rounded.
#
# args: full:f32[64x32]=1.5 full:f32[32x32]=1
# test: run %s --arch a5 --verify
# check: race    clean
# check: this schedule only (pipe MTE3 of AIV0 and pipe MTE3 of AIV1 add to the same bytes in an order that depends on time
# out[1]: f32 1024*7
# test: run %s --arch a2a3 --verify
# out[1]: f32 1024*7
import slipring.language as pl


@pl.incore
def f(a: pl.Tensor[[64, 32], pl.FP32], y: pl.InOut[pl.Tensor[[32, 32], pl.FP32]]):
    for lane in pl.split_aiv(2, mode=pl.SplitMode.NONE):
        x = a[lane * 32 : lane * 32 + 32, :]
        pl.store(x * 2.0, [0, 0], y, atomic=pl.AtomicType.Add)
