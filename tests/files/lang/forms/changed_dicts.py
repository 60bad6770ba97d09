# Dicts of constants that a kernel makes and changes, under two names.
# platforms: a5, a2a3
# test: run %s --verify --arg iota:f32[1x8] --arg zeros:f32[1x8]
# check: verify clean
# out[1]: f32 110 117 124 131 138 145 152 159
import slipring.language as pl

BASE = {"scale": 2.0, "more": 3.0}


@pl.incore
def k(x: pl.Tensor[[1, 8], pl.FP32], y: pl.Out[pl.Tensor[[1, 8], pl.FP32]]):
    given = {"scale": 1.0, **BASE, "rows": (4, 5)}
    same = given
    same.update({"more": 10.0}, scale=7.0)
    given["rest"] = 100.0
    gone = given.pop("rows")
    for i in pl.range(1):
        y[:, :] = x * given["scale"] + same["rest"] + given.get("more", 0.0) + given.get("rows", 0.0) + gone[0] * 0.0
