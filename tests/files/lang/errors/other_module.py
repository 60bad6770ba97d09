import triton.language as tl  # error: no-kernel the file has no kernel

# A file for another language: the error says what it imports, and what it should.
#
# test: check %s
# exit: 2
# check: this is another module than the language
# check: the language is imported by `import slipring.language as pl`


def f(x, y):
    tl.store(y, x)
