# slipring run FILE --arch a2a3
import slipring.language as pl
SLOT_SIZE = 16 * 32 * 4
@pl.incore
def cube(
    x: pl.Tensor[[64, 16], pl.FP32],
    w: pl.Tensor[[16, 32], pl.FP32],
    gm_slot_buffer: pl.InOut[pl.Tensor[[64, 32], pl.FP32]],
):
    fifo = pl.import_peer_buffer(name="c2v_slot_buffer", peer_func=vector)
    prod = aic_initialize_pipe(
        DIR_C2V, SLOT_SIZE, gm_slot_buffer, c2v_consumer_buf=fifo.base, v2c_consumer_buf=0, slot_num=fifo.size // SLOT_SIZE
    )
    for i in pl.range(4):
        row = i * 16
        product = pl.matmul(x[row : row + 16, :], w)
        TPUSH(product, fifo)
@pl.incore
def vector(
    gm_slot_buffer: pl.InOut[pl.Tensor[[64, 32], pl.FP32]],
):
    fifo = pl.reserve_buffer(name="c2v_slot_buffer", size=4 * SLOT_SIZE, base=0x8000)
    cons = aiv_initialize_pipe(DIR_C2V, SLOT_SIZE, gm_slot_buffer, c2v_consumer_buf=fifo.base, slot_num=4)
    for i in pl.range(4):
        tile = TPOP(fifo)
        TFREE(tile)
