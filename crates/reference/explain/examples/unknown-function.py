# slipring check FILE
import slipring.language as pl
@pl.incore
def f(y: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
    buf = pl.import_peer_buffer(name="slots", peer_func="vector")
