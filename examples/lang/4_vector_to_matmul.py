# (a + b) @ (a - b): the Vector cores make the operands, each one half of their rows; the Cube core multiplies.
import slipring.language as pl

N = 32
HALF = N // 2


@pl.incore
def sum_by_difference(
    a: pl.Tensor[[N, N], pl.FP32],
    b: pl.Tensor[[N, N], pl.FP32],
    c: pl.Out[pl.Tensor[[N, N], pl.FP32]],
):
    for lane in pl.split_aiv(2, mode=pl.SplitMode.UP_DOWN):
        row = lane * HALF
        x = pl.load(a, [row, 0], [HALF, N])
        y = pl.load(b, [row, 0], [HALF, N])
        total = pl.aic_gather(x + y)
        difference = pl.aic_gather(x - y)
    c[:] = pl.matmul(total, difference)
