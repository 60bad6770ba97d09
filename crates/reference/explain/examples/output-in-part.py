# slipring check FILE
import slipring.language as pl
@pl.incore
def a_row(
    x: pl.Tensor[[1, 8], pl.FP32],
    y: pl.Out[pl.Tensor[[4, 8], pl.FP32]],
    whole: pl.Out[pl.Tensor[[4, 8], pl.FP32]],
):
    y[0:1, :] = x
    for i in pl.range(4):
        whole[i : i + 1, :] = x
def columns(x: pl.Tensor[[2, 10], pl.FP32], y: pl.Out[pl.Tensor[[2, 16], pl.FP32]]):
    t = pl.load(x, [0, 0], [2, 16], valid_shape=[2, 10])
