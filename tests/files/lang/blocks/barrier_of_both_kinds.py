# The Cube cores read what the Vector cores of other blocks stored; each block has one of those and two of these.
#
# platforms: a5, a2a3
# args: full:f32[64x64]=1 full:bf16[64x64]=0.5 zeros:f32[64x64] zeros:i32[16]
# test: run %s --func lanes --verify
# check: race clean
# check: verify clean
# out[2]: f32 65 65 65 …
# test: run %s --func one_lane --verify
# check: race clean
# check: verify clean
# out[2]: f32 65 65 65 …
# out[3]: i32 12 0 0 …
import slipring.language as pl


@pl.incore
def lanes(
    x: pl.Tensor[[64, 64], pl.FP32],
    w: pl.Tensor[[64, 64], pl.BF16],
    out: pl.Out[pl.Tensor[[64, 64], pl.FP32]],
    ws: pl.InOut[pl.Tensor[[16], pl.INT32]],
):
    q = pl.create_tensor([64, 64], dtype=pl.BF16)
    for c in pl.spmd(4):
        for lane in pl.split_aiv(2, mode=pl.SplitMode.NONE):
            row = c * 16 + lane * 8
            t = pl.slice(x, [8, 64], [row, 0])
            q = pl.assemble(q, pl.cast(pl.mul(t, 2.0), target_type=pl.BF16), [row, 0])
        pl.system.syncall(core_type="mix")
        mm = pl.matmul(pl.slice(q, [16, 64], [(c + 1) % 4 * 16, 0]), w, out_dtype=pl.FP32)
        for lane in pl.split_aiv(2, mode=pl.SplitMode.NONE):
            v = pl.aiv_shard(mm)
            if lane == 0:
                out = pl.assemble(out, pl.add(v, 1.0), [c * 16, 0])


@pl.incore
def one_lane(
    x: pl.Tensor[[64, 64], pl.FP32],
    w: pl.Tensor[[64, 64], pl.BF16],
    out: pl.Out[pl.Tensor[[64, 64], pl.FP32]],
    ws: pl.InOut[pl.Tensor[[16], pl.INT32]],
):
    q = pl.create_tensor([64, 64], dtype=pl.BF16)
    for c in pl.spmd(4):
        t = pl.slice(x, [16, 64], [c * 16, 0])
        q = pl.assemble(q, pl.cast(pl.mul(t, 2.0), target_type=pl.BF16), [c * 16, 0])
        pl.system.syncall(mode="soft", core_type="mix", gm_workspace=ws, used_cores=0)
        mm = pl.matmul(pl.slice(q, [16, 64], [(c + 1) % 4 * 16, 0]), w, out_dtype=pl.FP32)
        out = pl.assemble(out, pl.add(mm, t), [c * 16, 0])
