# The mode of a transfer counts before that of its region: the first product is divided by rows, the second by columns.
# Each element of c is 32.
#
# args: full:f16[32x32]=1 zeros:f32[32x32] zeros:f32[32x32]
# platforms: a5, a2a3
# test: run %s --verify
# check: race clean
# check: verify clean
# out[1]: f32 512*32 512*33
# out[2]: f32 16*64 16*65 16*64 16*65 …
import slipring.language as pl


@pl.incore
def f(
    a: pl.Tensor[[32, 32], pl.FP16],
    rows: pl.Out[pl.Tensor[[32, 32], pl.FP32]],
    columns: pl.Out[pl.Tensor[[32, 32], pl.FP32]],
):
    c = pl.matmul(a, a)
    for lane in pl.split_aiv(2, mode=pl.SplitMode.UP_DOWN):
        one = pl.full([16, 32], pl.FP32, 0.0)
        if lane > 0:
            one = pl.full([16, 32], pl.FP32, 1.0)
        rows[lane * 16 : lane * 16 + 16, :] = pl.aiv_shard(c) + one
        other = pl.full([32, 16], pl.FP32, 0.0)
        if lane > 0:
            other = pl.full([32, 16], pl.FP32, 1.0)
        half = pl.aiv_shard(c, pl.SplitMode.LEFT_RIGHT) * 2.0
        columns[:, lane * 16 : lane * 16 + 16] = half + other
