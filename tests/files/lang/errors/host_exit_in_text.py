# A text with a message of Python in it is an error of `SystemExit` as well, whatever follows the message.
#
# test: check %s
# exit: 2
import os

import slipring.language as pl


@pl.incore
def k(a: pl.Tensor[[96, 64], pl.FP32], out: pl.Out[pl.Tensor[[96, 64], pl.FP32]]):
    out[:, :] = a[:, :] + 1.0


try:
    ROWS = 3 // 0
except ZeroDivisionError as e:
    # error: raise the file's own code stops here: SystemExit: no rows: division by zero (on
    raise SystemExit(f"no rows: {e} (on {os.environ['HOST']})")
