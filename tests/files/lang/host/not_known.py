# test: check %s
# exit: 2
import os
import time

import pypto.language as pl

LIMIT = int(os.environ["LIMIT"])
TOKENS = {"a": 1}
HALF = 0.5 if time.time() > 0 else 1.0


class Settings:
    rows = 4


@pl.incore
def f(x: pl.Tensor[[4, 16], pl.FP32], y: pl.Out[pl.Tensor[[4, 16], pl.FP32]]):
    # error: not-constant `LIMIT` is not known when the kernel is compiled: it comes from a part of what is not known here
    a = x + LIMIT
    # error: subscript a dict has no entry for the string "b"
    b = x + TOKENS["b"]
    # error: not-constant `HALF` is not known
    c = x * HALF
    # error: attribute the class `Settings` has no member `row`
    y[0 : Settings.row, :] = x
