# Blocks meet at a counter that the launch is passed, and read what others stored before.
#
# platforms: a5, a2a3
# args: iota:f32[4x8] zeros:f32[4x8] zeros:i32[16] zeros:f32[4x8]
# test: run %s --verify
# check: race clean
# check: verify clean
# out[2]: i32 4 0 0 …
# out[3]: f32 16 19 22 25 28 31 34 37 40 43 …
import slipring.language as pl


@pl.incore
def shift(
    x: pl.Tensor[[4, 8], pl.FP32],
    between: pl.InOut[pl.Tensor[[4, 8], pl.FP32]],
    ws: pl.InOut[pl.Tensor[[16], pl.INT32]],
    out: pl.Out[pl.Tensor[[4, 8], pl.FP32]],
):
    for i in pl.spmd(4):
        t = pl.load(x, [i, 0], [1, 8])
        between = pl.store(pl.mul(t, 2.0), [i, 0], between)
        pl.system.syncall(mode="soft", core_type="aiv_only", gm_workspace=ws, used_cores=4)
        n = pl.load(between, [(i + 1) % 4, 0], [1, 8])
        out = pl.store(pl.add(n, t), [i, 0], out)
