# slipring check FILE
import slipring.language as pl
@pl.incore
def f(x: pl.Tensor[[64, 64], pl.FP32], y: pl.Out[pl.Tensor[[64, 64], pl.FP32]], n: pl.Scalar[pl.INT32]):
    pl.func_attr({"exact_slices": True})
    for i in pl.range(4):
        y[i * 16 : i * 16 + n, :] = x[i * 16 : i * 16 + n, :]
