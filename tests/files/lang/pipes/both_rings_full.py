# Both cores push more tiles than a ring has slots before they pop any: both rings are named, and no more slots are proposed than
# the flags of two directions allow.
#
# test: run %s --arch a5
# exit: 1
# check: error[deadlock]
# check: help: `ring C2V` is full: all of its 4 slots hold tiles that AIV0 has not popped, and `ring V2C` is full: all of its 4 slots hold tiles that AIC has not popped; both sides push before they pop: pop on one of them before its own ring is full
# check-not: slot_num
# test: run %s --arch a2a3
# exit: 1
# check: error[deadlock]
# check: help: `ring C2V` is full: all of its 4 slots hold tiles that AIV0 has not popped, and `ring V2C` is full: all of its 4 slots hold tiles that AIC has not popped; both sides push before they pop: pop on one of them before its own ring is full
# check-not: slot_num
# args: full:f32[16x16]=1.0 zeros:f32[16x16] zeros:f32[16x16]
import slipring.language as pl


@pl.incore
def k(
    x: pl.Tensor[[16, 16], pl.FP32],
    y: pl.Out[pl.Tensor[[16, 16], pl.FP32]],
    z: pl.Out[pl.Tensor[[16, 16], pl.FP32]],
):
    for i in pl.range(5):
        pl.tpush_to_aiv(pl.matmul(x, x))
        pl.tpush_to_aic(pl.exp(x))
    for i in pl.range(5):
        s = pl.tpop_from_aic()
        y[:] = s
        pl.tfree_to_aic(s)
    for i in pl.range(5):
        t = pl.tpop_from_aiv()
        z[:] = pl.matmul(t, x)
        pl.tfree_to_aiv(t)
