# Booleans of the run are no numbers: Python's sum of two is 2, that of two bits is 0. Neither is a number a condition.
#
# args: 7:i32 zeros:f32[1x8]
# test: run %s
# exit: 2
import slipring.language as pl


@pl.incore
def f(n: pl.Scalar[pl.INT32], out: pl.InOut[pl.Tensor[[1, 8], pl.FP32]]):
    yes = n > 1
    # error: operator this operator does not work on BOOL scalars
    both = yes + (n < 9)
    # error: operator this operator does not work on BOOL scalars
    less = -yes
    # error: scalar-type an INT32 scalar where a BOOL one is needed
    pl.write(out, [0, 0], 1.0 if n else 0.0)
    # error: scalar-type an INT32 scalar where a BOOL one is needed
    pl.write(out, [0, 1], 1.0 if n and 5 else 0.0)
