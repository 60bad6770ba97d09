# A split that the function's attributes ask for is judged as one of a scope: a reduction over the divided axis is refused.
# test: run %s --arch a5
# exit: 2
import pypto.language as pl


@pl.function(type=pl.FunctionType.InCore, attrs={"split": pl.SplitMode.UP_DOWN})
def k(a: pl.Tensor[[64, 64], pl.FP32], b: pl.Tensor[[64, 64], pl.FP32], out: pl.Out[pl.Tensor[[1, 64], pl.FP32]]):
    x = pl.matmul(a, b)
    # error: auto-split cannot be divided between the Vector cores: `pto.tcolsum` combines all rows
    out[:] = pl.col_sum(x)
