# A number that a loop binds first has no value after a loop that may not run; one that surely runs leaves its last.
#
# test: run %s --arg full:f32[16x16]=3 --arg 2:i32 --arg zeros:f32[16x16]
# exit: 2
import slipring.language as pl


@pl.incore
def f(x: pl.Tensor[[16, 16], pl.FP32], n: pl.Scalar[pl.INT32], y: pl.Out[pl.Tensor[[16, 16], pl.FP32]]):
    for i in pl.range(3):
        sure = i * 2
    for i in pl.range(n):
        by = i + sure
    # error: undefined-name `by` is not defined
    y[:, :] = pl.load(x, [0, 0], [16, 16]) * pl.cast(by, pl.FP32)
