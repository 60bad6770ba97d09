# What Python's own exceptions say differs from version to version: the file does not know it. What it raises itself it knows.
#
# test: run %s --func own
# args: full:f32[16x64]=0.0 zeros:f32[16x64]
# out[1]: f32 1024*7.0
# test: run %s --func of_python
# exit: 2
import slipring.language as pl


def said(what):
    try:
        what()
    except Exception as e:
        return str(e)


def raises():
    raise ValueError("a tile")


def unbound():
    del_me = 1
    del del_me
    return del_me


KINDS = 0.0
for what in (lambda: 1 // 0, lambda: [].pop(), lambda: {}["k"], unbound):
    try:
        what()
    except (ArithmeticError, LookupError, NameError) as e:
        KINDS += 1.0 if isinstance(e, (ZeroDivisionError, IndexError, KeyError, UnboundLocalError)) else 100.0

OWN = 2.0 if said(raises) == "a tile" else 100.0
KEY = 1.0 if said(lambda: {}["k"]) == "'k'" else 100.0
OF_PYTHON = 1.0 if said(unbound) == "`del_me` is read before it is bound" else 2.0


@pl.incore
def own(a: pl.Tensor[[16, 64], pl.FP32], out: pl.Out[pl.Tensor[[16, 64], pl.FP32]]):
    out[:, :] = a[:, :] + (KINDS + OWN + KEY)


@pl.incore
def of_python(a: pl.Tensor[[16, 64], pl.FP32], out: pl.Out[pl.Tensor[[16, 64], pl.FP32]]):
    # error: not-constant `OF_PYTHON` is not known
    out[:, :] = a[:, :] + OF_PYTHON
