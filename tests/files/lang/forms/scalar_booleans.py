# Booleans are 0 and 1 where they are compared, what stands beside them behind `and` and `or` is asked whether it is true, and a
# negated zero has a sign. A number of few bits is compared with an offset as it is, not the offset cut to its bits.
#
# args: 7:i32 0:f32 100:i8 zeros:f32[1x16]
# test: run %s --verify
# check: verify clean
# out[3]: f32 1 0 1 1 0 1 1 0 1 -inf 199 5 4*0
import slipring.language as pl

MODE = 2


@pl.incore
def f(
    n: pl.Scalar[pl.INT32],
    x: pl.Scalar[pl.FP32],
    few: pl.Scalar[pl.INT8],
    out: pl.InOut[pl.Tensor[[1, 16], pl.FP32]],
):
    yes = n > 1
    no = n < 5
    either = True if n > 3 else False
    pl.write(out, [0, 0], 1.0 if yes > no else 0.0)
    pl.write(out, [0, 1], 1.0 if yes < no else 0.0)
    pl.write(out, [0, 2], 1.0 if no <= yes else 0.0)
    pl.write(out, [0, 3], 1.0 if max(yes, no) else 0.0)
    pl.write(out, [0, 4], 1.0 if min(yes, no) else 0.0)
    pl.write(out, [0, 5], 1.0 if yes and MODE else 0.0)
    pl.write(out, [0, 6], 1.0 if no or MODE else 0.0)
    pl.write(out, [0, 7], 1.0 if no or 0 else 0.0)
    pl.write(out, [0, 8], 1.0 if either else 0.0)
    pl.write(out, [0, 9], 1.0 / -x)
    count = pl.cast(0, pl.FP32)
    most = 0
    for i in pl.range(0, 300):
        count = count + (1.0 if few < i else 0.0)
        most = min(few, i + 5) if i == 0 else most
    pl.write(out, [0, 10], count)
    pl.write(out, [0, 11], pl.cast(most, pl.FP32))
