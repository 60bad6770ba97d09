# A barrier that waits for more cores than come.
#
# platforms: a5, a2a3
# args: zeros:i32[16] zeros:f32[4x8]
# test: run %s
# exit: 1
# check: error[deadlock]: the scalar unit of AIV0 waits for a signal in global memory forever
# check: 4 blocks are stuck
import slipring.language as pl


@pl.incore
def waits(ws: pl.InOut[pl.Tensor[[16], pl.INT32]], out: pl.Out[pl.Tensor[[4, 8], pl.FP32]]):
    for i in pl.spmd(4):
        pl.system.syncall(mode="soft", core_type="aiv_only", gm_workspace=ws, used_cores=5)
        out = pl.store(pl.full([1, 8], pl.FP32, 1.0), [i, 0], out)
