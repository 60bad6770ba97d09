# There and back: ((a @ b) * 2) @ v. Both Vector cores do all of it, and the first one's result counts.
import slipring.language as pl

N = 64


@pl.incore
def round_trip(
    a: pl.Tensor[[N, N], pl.FP32],
    b: pl.Tensor[[N, N], pl.FP32],
    v: pl.Tensor[[N, N], pl.FP32],
    out: pl.Out[pl.Tensor[[N, N], pl.FP32]],
):
    qk = pl.matmul(a, b)
    for lane in pl.split_aiv(2, mode=pl.SplitMode.NONE):
        full = pl.aic_gather(pl.aiv_shard(qk) * 2.0)
    out[:] = pl.matmul(full, v)
