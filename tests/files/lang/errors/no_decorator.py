import slipring.language as pl  # error: no-kernel the file has no kernel

# A kernel without its decorator.
#
# test: check %s
# exit: 2
# check: this function has no decorator


def f(x: pl.Tensor[[64, 64], pl.FP32], y: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
    y[:] = x
