# What a barrier of all blocks cannot be.
#
# test: check %s
# exit: 2
import slipring.language as pl


@pl.incore
def f(
    ws: pl.InOut[pl.Tensor[[16], pl.INT32]],
    small: pl.InOut[pl.Tensor[[15], pl.INT32]],
    floats: pl.InOut[pl.Tensor[[16], pl.FP32]],
):
    # error: argument a soft barrier counts in a tensor, and none is given
    pl.system.syncall(mode="soft", used_cores=4)
    # error: argument a soft barrier needs the number of cores that meet
    pl.system.syncall(mode="soft", gm_workspace=ws)
    # error: argument a hard barrier takes no counter and no number of cores
    pl.system.syncall(gm_workspace=ws, used_cores=4)
    # error: argument `gm_workspace` has at least 16 INT32, this is INT32 [15]
    pl.system.syncall(mode="soft", gm_workspace=small, used_cores=4)
    # error: argument `gm_workspace` has at least 16 INT32, this is FP32 [16]
    pl.system.syncall(mode="soft", gm_workspace=floats, used_cores=4)
    # error: argument `core_type` is one of mix, aiv_only, aic_only, not "aiv"
    pl.system.syncall(core_type="aiv")
    for lane in pl.split_aiv(2, mode=pl.SplitMode.NONE):
        # error: barrier a barrier of all blocks is inside a region
        pl.system.syncall()
