# slipring check FILE
import slipring.language as pl
@pl.incore
def both(x: pl.Tensor[[64, 64], pl.FP32], y: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
    buf = pl.reserve_buffer(name="slots", size=32768, base=pl.AUTO)
    pl.aiv_initialize_pipe(DIR_C2V, 16384, c2v_consumer_buf=buf.base, slot_num=2)
    pl.aic_initialize_pipe(DIR_C2V, 16384, c2v_consumer_buf=buf.base, slot_num=2)
