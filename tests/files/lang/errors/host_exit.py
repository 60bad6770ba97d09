# `sys.exit` with something to say stops the file; what divides by zero, too.
#
# test: check %s
# exit: 2
import sys

import slipring.language as pl


@pl.incore
def k(a: pl.Tensor[[96, 64], pl.FP32], out: pl.Out[pl.Tensor[[96, 64], pl.FP32]]):
    out[:, :] = a[:, :] + 1.0


def main():
    # error: raise the file's own code stops here: SystemExit: no device
    sys.exit("no device")


try:
    ROWS = 3 // 0
except ZeroDivisionError:
    main()
