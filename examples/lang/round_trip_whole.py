# There and back: ((a @ b) * 2) @ v. No split is written: one Vector core does all of it.
import slipring.language as pl

N = 64


@pl.incore
def round_trip(
    a: pl.Tensor[[N, N], pl.FP32],
    b: pl.Tensor[[N, N], pl.FP32],
    v: pl.Tensor[[N, N], pl.FP32],
    out: pl.Out[pl.Tensor[[N, N], pl.FP32]],
):
    out[:] = pl.matmul(pl.matmul(a, b) * 2.0, v)
