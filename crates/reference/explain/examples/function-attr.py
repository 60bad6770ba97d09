# slipring check FILE
import pypto.language as pl
@pl.function(type=pl.FunctionType.InCore, attrs={"splitt": pl.SplitMode.UP_DOWN})
def scope_keyword(a: pl.Tensor[[64, 64], pl.FP32], out: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
        out[i * 32 : i * 32 + 32, :] = a[i * 32 : i * 32 + 32, :] * 2.0
