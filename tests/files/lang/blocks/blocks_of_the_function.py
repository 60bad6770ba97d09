# The blocks that a function's attributes say are those of `pl.spmd`.
# args: full:f32[64x64]=1 zeros:f32[64x64]
# test: run %s --arch a5
# check: 4 blocks
# out[1]: f32 4096*2
import pypto.language as pl


@pl.function(type=pl.FunctionType.InCore, attrs={"core_num": 4})
def in_blocks(a: pl.Tensor[[64, 64], pl.FP32], out: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
    row = pl.tile.get_block_idx() * 16
    out[row : row + 16, :] = a[row : row + 16, :] * 2.0
