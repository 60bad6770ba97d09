# slipring check FILE
import slipring.language as pl
@pl.incore
def vector(y: pl.Out[pl.Tensor[[16, 16], pl.FP32]]):
    one = pl.reserve_buffer(name="one", size=2048, base=pl.AUTO)
    aiv_initialize_pipe(DIR_C2V, 1024, c2v_consumer_buf=one.base, slot_num=2, id=1)
    b = TPOP(one, shape=[16, 16], dtype=pl.FP32, id=2)
    peer = pl.import_peer_buffer(name="three", peer_func=vector)
