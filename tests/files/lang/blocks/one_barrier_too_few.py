# Without the second barrier a block stores again while another one still reads.
#
# platforms: a5, a2a3
# args: full:f32[4x8]=1 zeros:f32[4x8] zeros:f32[4x8]
# test: run %s
# exit: 1
# check: error[race]: `pto.tstore` on pipe MTE3 of AIV0
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
        out = pl.store(t, [i, 0], out)
