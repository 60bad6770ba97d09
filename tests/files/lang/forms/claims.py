# Claims that hold: what is known costs nothing, the rest is asked. Of the first three nothing is left in the program.
#
# args: iota:f32[4x8] zeros:f32[4x8] 3:i32
# platforms: a5, a2a3
# test: run %s --verify
# check: verify clean
# out[1]: f32 0 1 2 3 …
# test: build %s
# check: n < 4
# check-not: in range
import slipring.language as pl


@pl.incore
def f(x: pl.Tensor[[4, 8], pl.FP32], y: pl.Out[pl.Tensor[[4, 8], pl.FP32]], n: pl.Scalar[pl.INT32]):
    assert x.shape == (4, 8), "in range"
    for i in pl.range(0, 4, 2):
        assert 0 <= i <= 2, "in range"
        pl.device_assert(i + 2 <= 4, "in range")
        y[i : i + 2, :] = x[i : i + 2, :]
    assert n < 4, "few"
    pl.device_assert(n > 0, msg="some")
    assert x[0:4, :] >= 0.0
