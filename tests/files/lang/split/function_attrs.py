# The split of a function's attributes is that of `pl.split`: both Vector cores run, each with half of the rows, or columns.
# args: rand:f32[64x64] rand:f32[64x64] zeros:f32[64x64]
# platforms: a5, a2a3
# test: run %s --func decorated --verify
# check: AIC + AIV0 + AIV1
# check: verify clean
# test: run %s --func in_the_body --verify
# check: AIC + AIV0 + AIV1
# check: verify clean
# test: run %s --func both --arg full:f32[64x64]=1 --arg zeros:f32[64x64]
# exit: 1
# check: AIV0 + AIV1
# check: race findings
# check: error[race]
import pypto.language as pl


@pl.function(type=pl.FunctionType.InCore, attrs={"split": pl.SplitMode.UP_DOWN})
def decorated(
    a: pl.Tensor[[64, 64], pl.FP32], b: pl.Tensor[[64, 64], pl.FP32], out: pl.Out[pl.Tensor[[64, 64], pl.FP32]]
):
    out[:] = pl.matmul(a, b) * 2.0


@pl.function(type=pl.FunctionType.InCore)
def in_the_body(
    a: pl.Tensor[[64, 64], pl.FP32], b: pl.Tensor[[64, 64], pl.FP32], out: pl.Out[pl.Tensor[[64, 64], pl.FP32]]
):
    pl.func_attr({"split": pl.SplitMode.LEFT_RIGHT, "slot_num": 4})
    out[:] = pl.matmul(a, b) * 2.0


# Both lanes store the same rows, which the race check finds: each runs all of it.
@pl.function(type=pl.FunctionType.AIV, attrs={"dual_aiv_dispatch": True})
def both(a: pl.Tensor[[64, 64], pl.FP32], out: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
    out[:] = pl.load(a, [0, 0], [64, 64]) * 2.0
