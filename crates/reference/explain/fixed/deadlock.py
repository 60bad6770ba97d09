# slipring run FILE
# args: zeros:i32[16] zeros:f32[4x8]
import slipring.language as pl
@pl.incore
def waits(ws: pl.InOut[pl.Tensor[[16], pl.INT32]], out: pl.Out[pl.Tensor[[4, 8], pl.FP32]]):
    for i in pl.spmd(4):
        pl.system.syncall(mode="soft", core_type="aiv_only", gm_workspace=ws, used_cores=4)
        out = pl.store(pl.full([1, 8], pl.FP32, 1.0), [i, 0], out)
