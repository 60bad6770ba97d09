# Outputs that are written in part, or less than the tile that is stored has.
#
# test: check %s
# check: warning[output-in-part]: `y[1:4, 0:8]` of this output is never written
# check: this is all that is written
# check: warning[output-in-part]: `y[0:2, 10:16]` of this output is never written
# check: only 2 rows and 10 columns of this tile [2, 16] are valid
# check-not: `whole`
import slipring.language as pl


@pl.incore
def a_row(
    x: pl.Tensor[[1, 8], pl.FP32],
    y: pl.Out[pl.Tensor[[4, 8], pl.FP32]],
    whole: pl.Out[pl.Tensor[[4, 8], pl.FP32]],
):
    y[0:1, :] = x
    for i in pl.range(4):
        whole[i : i + 1, :] = x


@pl.incore
def columns(x: pl.Tensor[[2, 10], pl.FP32], y: pl.Out[pl.Tensor[[2, 16], pl.FP32]]):
    t = pl.load(x, [0, 0], [2, 16], valid_shape=[2, 10])
    y[:] = t + 1.0
