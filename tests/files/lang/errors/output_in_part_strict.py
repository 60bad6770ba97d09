# A result that is written in part is a warning; with `--strict` the run ends with an error.
#
# test: run %s --arch a5
# check: warning[output-in-part]
# test: run %s --arch a5 --strict
# exit: 1
# check: error[output-in-part]
import slipring.language as pl


@pl.jit
def a_row(x: pl.Tensor[[1, 8], pl.FP32], y: pl.Out[pl.Tensor[[4, 8], pl.FP32]]):
    y[0:1, :] = x[:, :] + 1.0
