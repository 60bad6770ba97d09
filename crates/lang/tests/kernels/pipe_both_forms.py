# Manual pipes: pops take their type from the pushes; scalar forms.
from slipring.language import *
import slipring.language as pl

SLOT_SIZE = 64 * 64 * 4

@incore
def vector_kernel(c: Out[Tensor[[256, 64], FP32]], slots: InOut[Tensor[[65536], FP32]]):
    pipe_buf = reserve_buffer(name="c2v", size=8 * SLOT_SIZE, base=AUTO)
    aiv_initialize_pipe(pipe_buf, 0, dir_mask=1, slot_size=SLOT_SIZE, gm_slot_buffer=slots)
    lane = get_subblock_idx()
    for i in pl.range(4):
        tile = TPOP(pipe_buf)
        y = pl.relu(tile)
        TFREE(tile)
        c[i * 64 + lane * 32:i * 64 + lane*32 + 32, :] = y

@pl.incore
def cube_kernel(a: pl.Tensor[[256, 64], pl.FP16], b: pl.Tensor[[64, 64], pl.FP16], slots: pl.InOut[pl.Tensor[[65536], pl.FP32]]):
    peer = pl.import_peer_buffer(name="c2v", peer_func="vector_kernel")
    pl.aic_initialize_pipe(peer, 0, dir_mask=1, slot_size=SLOT_SIZE, gm_slot_buffer=slots)
    for i in pl.range(4):
        acc = pl.matmul(a[i * 64:i * 64 + 64, :], b)
        pl.tpush_to_aiv(acc, split=1)
