# What has no effect here says so.
# test: run %s --arch a2a3 --arg x=full:f32[8x64]=4 --arg out=zeros:f32[8x64]
# check: note[no-effect]: `manual_dep` of `pl.create_tensor` has no effect
# check: note[no-effect]: `high_precision` of `pl.recip` has no effect
# check: note[no-effect]: `tmp` of `pl.col_expand_mul` has no effect
# check: note[type-argument]: `pl.MemRef` has no effect
# out[1]: f32 512*0.5
import slipring.language as pl


@pl.incore
def kernel(x: pl.Tensor[[8, 64], pl.FP32], out: pl.Out[pl.Tensor[[8, 64], pl.FP32]]):
    made = pl.create_tensor([8, 64], pl.FP32, layout=pl.TensorLayout.ND, manual_dep=True)
    t = pl.recip(pl.load(x, [0, 0], [8, 64]), high_precision=True)
    row: pl.Tile[[1, 64], pl.FP32, pl.Mem.Vec] = pl.full([1, 64], pl.FP32, 2.0)
    tmp = pl.create_tile([8, 64], pl.FP32)
    made[:] = pl.col_expand_mul(t, row, tmp)
    again: pl.Tensor[[8, 64], pl.FP32, pl.MemRef(0, 0, 1)] = made
    out[:] = again
