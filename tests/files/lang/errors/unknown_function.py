# A peer that the file does not have.
#
# test: check %s
# exit: 2
import slipring.language as pl


@pl.incore
def f(y: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
    # error: unknown-function there is no kernel `vector` in this file
    buf = pl.import_peer_buffer(name="slots", peer_func="vector")
    aic_initialize_pipe(DIR_C2V, 16384, c2v_consumer_buf=buf.base, slot_num=2)
