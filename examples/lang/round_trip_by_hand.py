# There and back with every move between memories written: ((a @ b) * 2) @ v.
import slipring.language as pl

N = 64
DOWN = pl.SplitMode.UP_DOWN


@pl.function(type=pl.FunctionType.InCore)
def round_trip(
    a: pl.Tensor[[N, N], pl.FP32],
    b: pl.Tensor[[N, N], pl.FP32],
    v: pl.Tensor[[N, N], pl.FP32],
    out: pl.Out[pl.Tensor[[N, N], pl.FP32]],
):
    a_l1 = pl.load(a, [0, 0], [N, N], target_memory=pl.Mem.Mat)
    b_l1 = pl.load(b, [0, 0], [N, N], target_memory=pl.Mem.Mat)
    qk = pl.matmul(pl.move(a_l1, pl.Mem.Left), pl.move(b_l1, pl.Mem.Right))
    for lane in pl.split_aiv(2, mode=DOWN):
        qk_half = pl.aiv_shard(qk)
        doubled = pl.mul(qk_half, 2.0)
        full = pl.aic_gather(doubled)
    full_l0 = pl.move(full, pl.Mem.Left)
    v_l1 = pl.load(v, [0, 0], [N, N], target_memory=pl.Mem.Mat)
    pv = pl.matmul(full_l0, pl.move(v_l1, pl.Mem.Right))
    pl.store(pv, [0, 0], out)
