# A line that is indented with a tab, where others are with blanks.
#
# test: check %s
# exit: 2
# check: indent all lines with blanks
import slipring.language as pl


@pl.incore
def f(x: pl.Tensor[[64, 64], pl.FP32], y: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
    t = pl.add(x, 1.0)
    # error: python-syntax this line is indented with a tab, others with blanks
	y[:] = t
