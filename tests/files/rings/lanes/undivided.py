# Both Vector cores have the whole tile (mode NONE). The A5's tile library moves an undivided tile between the Cube core and AIV0
# only (device headers, TPush): with that interpretation AIV1 must not come to the pipe, and what leaves is refused. On the A2/A3 both
# cores take part.
#
# test: run %s --arch a5
# check: that undivided tiles reach both Vector cores (`--interpretation undivided-to-first`)
# test: run %s --arch a5 --interpretation undivided-to-first
# exit: 1 with trap
# check: AIV1 comes to
# test: run %s --arch a2a3
# check-not: undivided tiles
# test: build %s --arch a5 --for ptoas-0.27
# exit: 2
# check: error[pipe-undivided]
# check: divide the tile
# test: build %s --arch a2a3 --for ptoas-0.27
# args: rand:f32[64x64],seed=1 rand:f32[64x64],seed=2 rand:f32[64x64],seed=3 zeros:f32[64x64]
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
