# (a + b) @ (a - b): the Vector cores make the operands, each one half of their columns; the Cube core multiplies.
import slipring.language as pl

N = 32
HALF = N // 2


@pl.incore
def sum_by_difference(
    a: pl.Tensor[[N, N], pl.FP32],
    b: pl.Tensor[[N, N], pl.FP32],
    c: pl.Out[pl.Tensor[[N, N], pl.FP32]],
):
    for lane in pl.split_aiv(2, mode=pl.SplitMode.LEFT_RIGHT):
        col = lane * HALF
        x = pl.load(a, [0, col], [N, HALF])
        y = pl.load(b, [0, col], [N, HALF])
        total = pl.aic_gather(x + y)
        difference = pl.aic_gather(x - y)
    c[:] = pl.matmul(total, difference)
