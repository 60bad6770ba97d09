# Large integers are compared as they are, and not as floats; what is not a number is only equal to what is none.
#
# test: run %s --arg full:i64[1x4]=9007199254740993 --arg zeros:i64[1x4] --expect y=full:i64[1x4]=9007199254740992
# exit: 1
# error-without-place: expected 4 of 4 elements of `y` differ
# check: y[0, 0] is 9007199254740993, expected 9007199254740992
import slipring.language as pl


@pl.incore
def f(x: pl.Tensor[[1, 4], pl.INT64], y: pl.Out[pl.Tensor[[1, 4], pl.INT64]]):
    y[:] = x
