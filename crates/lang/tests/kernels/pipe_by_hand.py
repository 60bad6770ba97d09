# Manual pipes, seed spelling.
import slipring.language as pl

SLOT_SIZE = 64 * 64 * 4
SLOT_NUM = 4


@pl.incore
def my_cube_kernel(a: pl.Tensor[[256, 64], pl.FP16], b: pl.Tensor[[64, 64], pl.FP16], gm_slot_buffer: pl.InOut[pl.Tensor[[65536], pl.FP32]]):
    peer_buf = pl.import_peer_buffer(name="c2v_slot_buffer", peer_func=my_vector_kernel)
    aic_initialize_pipe(DIR_C2V, SLOT_SIZE, gm_slot_buffer, c2v_consumer_buf=peer_buf.base, v2c_consumer_buf=0)
    for i in pl.range(4):
        acc = pl.matmul(a[i * 64:i * 64 + 64, :], b)
        TPUSH(acc, peer_buf)


@pl.incore
def my_vector_kernel(c: pl.Out[pl.Tensor[[256, 64], pl.FP32]], gm_slot_buffer: pl.InOut[pl.Tensor[[65536], pl.FP32]]):
    pipe_buf = pl.reserve_buffer(name="c2v_slot_buffer", size=8 * SLOT_SIZE, base=pl.AUTO)
    aiv_initialize_pipe(DIR_C2V, SLOT_SIZE, gm_slot_buffer, c2v_consumer_buf=pipe_buf.base, v2c_consumer_buf=0)
    for i in pl.range(4):
        tile = TPOP(pipe_buf, shape=[64, 64], dtype=pl.FP32)
        y = pl.relu(tile)
        TFREE(tile)
        c[i * 64:i * 64 + 64, :] = y
