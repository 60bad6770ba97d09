# There and back: ((a @ b) * 2) @ v, written for one Vector core; the compiler gives each of them half of the columns.
import slipring.language as pl

N = 64


@pl.incore
def round_trip(
    a: pl.Tensor[[N, N], pl.FP32],
    b: pl.Tensor[[N, N], pl.FP32],
    v: pl.Tensor[[N, N], pl.FP32],
    out: pl.Out[pl.Tensor[[N, N], pl.FP32]],
):
    with pl.at(level=pl.Level.CORE_GROUP, optimizations=[pl.split(pl.SplitMode.LEFT_RIGHT)]):
        out[:] = pl.matmul(pl.matmul(a, b) * 2.0, v)
