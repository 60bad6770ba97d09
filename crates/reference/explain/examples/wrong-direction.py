# slipring run FILE
import pypto.language as pl
@pl.jit.incore
def scale(x: pl.Tensor[[32, 32], pl.FP32], out: pl.Out[pl.Tensor[[32, 32], pl.FP32]]):
    t = pl.mul(pl.load(x, [0, 0], [32, 32]), 3.0)
    pl.store(t, [0, 0], x)
    pl.store(t, [0, 0], out)
@pl.jit.incore
def copy(x: pl.Tensor[[32, 32], pl.FP32], out: pl.Out[pl.Tensor[[32, 32], pl.FP32]]):
    pl.store(pl.load(x, [0, 0], [32, 32]), [0, 0], out)
@pl.jit
def main(
    x: pl.Tensor[[32, 32], pl.FP32],
    a: pl.Out[pl.Tensor[[32, 32], pl.FP32]],
    b: pl.Out[pl.Tensor[[32, 32], pl.FP32]],
):
    scale(x, a)
    copy(x, b)
