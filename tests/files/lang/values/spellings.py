# One parameter has several names in the public language: of a tile, a tensor, or either.
# args: full:f32[8x16]=4.0 zeros:f32[8x16]
# test: run %s --arch a5
# out[1]: f32 128*12.5
# test: run %s --arch a2a3
# out[1]: f32 128*12.5
import slipring.language as pl


@pl.incore
def kernel(x: pl.Tensor[[8, 16], pl.FP32], y: pl.Out[pl.Tensor[[8, 16], pl.FP32]]):
    t = pl.tile.load(tensor=x, offsets=[0, 0], shapes=[8, 16])
    tmp = pl.create_tile([8, 16], dtype=pl.FP32, target_memory=pl.MemorySpace.Vec)
    half = pl.rsqrt(t, tmp)
    same = pl.tile.rsqrt(tile=t, tmp=tmp)
    sums = pl.row_sum(input=half, tmp_tile=tmp)
    wide = pl.row_expand_add(tile=same, row_vec=sums)
    whole = pl.col_expand_mul(lhs=wide, rhs=pl.col_max(tile=pl.full([8, 16], pl.FP32, 1.0)))
    turned = pl.reshape(tile=whole, shape=[16, 8])
    part = pl.part_add(src0=pl.reshape(input=turned, shape=[8, 16]), src1=t)
    pl.store(tile=pl.cast(tile=pl.abs(input=part), target_type=pl.FP32), offsets=[0, 0], output_tensor=y)
