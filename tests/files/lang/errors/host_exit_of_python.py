# A message of Python itself is not known to the file, but an exit with it is one with an error, and the report has the message.
#
# test: check %s
# exit: 2
import sys

import slipring.language as pl


@pl.incore
def k(a: pl.Tensor[[96, 64], pl.FP32], out: pl.Out[pl.Tensor[[96, 64], pl.FP32]]):
    out[:, :] = a[:, :] + 1.0


try:
    ROWS = int("x")
except ValueError as e:
    # error: raise the file's own code stops here: SystemExit: invalid literal for int() with base 10: 'x'
    sys.exit(str(e))
