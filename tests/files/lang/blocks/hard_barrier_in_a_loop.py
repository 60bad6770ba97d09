# A barrier in a loop is another one in each iteration; hard barriers count in memory of the kernel's own.
#
# platforms: a5, a2a3
# args: full:f32[4x8]=1 zeros:f32[4x8] zeros:f32[4x8]
# test: run %s --verify
# check: race clean
# check: verify clean
# out[2]: f32 8 8 8 …
import slipring.language as pl


@pl.incore
def rounds(
    x: pl.Tensor[[4, 8], pl.FP32],
    between: pl.InOut[pl.Tensor[[4, 8], pl.FP32]],
    out: pl.Out[pl.Tensor[[4, 8], pl.FP32]],
):
    for i in pl.spmd(4):
        t = pl.load(x, [i, 0], [1, 8])
        for k in pl.range(3):
            between = pl.store(t, [i, 0], between)
            pl.system.syncall(core_type="aiv_only")
            t = pl.add(t, pl.load(between, [(i + 1) % 4, 0], [1, 8]))
            pl.system.syncall(core_type="aiv_only")
        out = pl.store(t, [i, 0], out)
