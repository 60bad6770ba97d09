@pl.jit  # error: no-kernel the file has no kernel
def f(x: pl.Tensor[[64, 64], pl.FP32], y: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
    y[:] = x


# A kernel in a file that does not import the language.
#
# test: check %s
# exit: 2
# check: the language is imported by `import slipring.language as pl`
