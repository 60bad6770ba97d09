# Memory for slots at an address that the text chooses; the producer has it by its import.
#
# platforms: a5, a2a3
# test: run %s --verify
# check: memory clean
# check: race clean
# check: init clean
# check: verify clean
# out[3]: f32 2048*4.0
# test: build %s --arch a5
# check: @cube: C2V_CONSUMER_BUFFER_BASE = 0x8000, C2V_CONSUMER_BUFFER_SIZE = 8192 (pipe 0, the consumer's UB)
# check: @vector: C2V_CONSUMER_BUFFER_BASE = 0x8000, C2V_CONSUMER_BUFFER_SIZE = 8192 (pipe 0, its own UB)
# args: full:f32[64x16]=0.25 full:f32[16x32]=0.5 zeros:f32[64x32] zeros:f32[64x32]
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
    y: pl.Out[pl.Tensor[[64, 32], pl.FP32]],
    gm_slot_buffer: pl.InOut[pl.Tensor[[64, 32], pl.FP32]],
):
    fifo = pl.reserve_buffer(name="c2v_slot_buffer", size=4 * SLOT_SIZE, base=0x8000)
    cons = aiv_initialize_pipe(DIR_C2V, SLOT_SIZE, gm_slot_buffer, c2v_consumer_buf=fifo.base, slot_num=4)
    for i in pl.range(4):
        row = i * 16
        tile = TPOP(fifo)
        doubled = tile * 2.0
        TFREE(tile)
        y[row : row + 16, :] = doubled
