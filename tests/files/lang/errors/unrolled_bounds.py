# A slice that is the same in each iteration that is written out ends inside of its dimension, or is an error.
#
# test: check %s
# exit: 2
import slipring.language as pl

FIRST = 8


@pl.inline
def doubled(x, first):
    return x[:, first : first + 4] * 2.0


@pl.incore
def unrolled_bounds(x: pl.Tensor[[2, 10], pl.FP32], out: pl.InOut[pl.Tensor[[2, 10], pl.FP32]]):
    for i in pl.unroll(3):
        # Its last part is smaller.
        out[:, i * 4 : i * 4 + 4] = doubled(x, i * 4)
        # error: bounds the slice 8:12 does not lie inside the 10 of this dimension
        out[:, FIRST : FIRST + 4] = 1.0
    return out
