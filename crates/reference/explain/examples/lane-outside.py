# slipring check FILE
import slipring.language as pl
@pl.incore
def f(a: pl.Tensor[[64, 64], pl.FP16], y: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
    aiv_id = pl.tile.get_subblock_idx()
