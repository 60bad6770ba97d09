# (a + b) @ (a - b): one Vector core makes the operands; the Cube core multiplies.
import slipring.language as pl

N = 32


@pl.incore
def sum_by_difference(
    a: pl.Tensor[[N, N], pl.FP32],
    b: pl.Tensor[[N, N], pl.FP32],
    c: pl.Out[pl.Tensor[[N, N], pl.FP32]],
):
    c[:] = pl.matmul(a + b, a - b)
