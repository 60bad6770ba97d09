import slipring.language as pl  # error: no-kernel the file has no kernel

# A file without a kernel.
#
# test: check %s
# exit: 2

ROWS = 64


def helper(x):
    return x
