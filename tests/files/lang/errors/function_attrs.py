# What a function says of itself is taken, or an error.
# test: check %s --arch a5
# exit: 2
import pypto.language as pl


# error: function-attr a function has no attribute `splitt`
@pl.function(type=pl.FunctionType.InCore, attrs={"splitt": pl.SplitMode.UP_DOWN})
def unknown_key(a: pl.Tensor[[64, 64], pl.FP32], out: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
    out[:] = pl.load(a, [0, 0], [64, 64]) * 2.0


# error: function-attr `split` of a function is a mode such as `pl.SplitMode.UP_DOWN`
@pl.function(type=pl.FunctionType.InCore, attrs={"split": "rows"})
def wrong_value(a: pl.Tensor[[64, 64], pl.FP32], out: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
    out[:] = pl.load(a, [0, 0], [64, 64]) * 2.0


# error: decorator `@pl.function` has no argument `atrs`
@pl.function(type=pl.FunctionType.InCore, atrs={"split": pl.SplitMode.UP_DOWN})
def unknown_argument(a: pl.Tensor[[64, 64], pl.FP32], out: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
    out[:] = pl.load(a, [0, 0], [64, 64]) * 2.0


# error: function-attr `split_aiv` of a function is the public compiler's mark of what its own passes have divided
@pl.function(type=pl.FunctionType.InCore, attrs={"split_aiv": True})
def marked(a: pl.Tensor[[64, 64], pl.FP32], out: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
    out[:] = pl.load(a, [0, 0], [64, 64]) * 2.0


# error: unsupported a kernel that is written in C++
@pl.function(type=pl.FunctionType.AIV, external_source="kernel.cpp")
def elsewhere(a: pl.Tensor[[64, 64], pl.FP32], out: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
    out[:] = pl.load(a, [0, 0], [64, 64]) * 2.0


@pl.function(type=pl.FunctionType.InCore)
def in_the_body(a: pl.Tensor[[64, 64], pl.FP32], out: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
    # error: function-attr a function has no attribute `slots`
    pl.func_attr({"slots": 4})
    out[:] = pl.load(a, [0, 0], [64, 64]) * 2.0


@pl.function(type=pl.FunctionType.InCore)
def scope_keyword(a: pl.Tensor[[64, 64], pl.FP32], out: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
    # error: argument `pl.spmd` has no argument `cores`
    for i in pl.spmd(2, cores=3):
        out[i * 32 : i * 32 + 32, :] = a[i * 32 : i * 32 + 32, :] * 2.0
