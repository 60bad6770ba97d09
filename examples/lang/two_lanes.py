# Different work on the two Vector cores, each with a pipe of its own to and from the Cube core: AIV0 turns a block of i8 weights into
# f16 times a scale and pushes it; the Cube core multiplies the activations by it and pushes the scores; AIV1 takes the softmax of
# their rows. Each pipe names its Vector core with `lane` and has flags, a depth and tiles of its own.
# out[i] = softmax(a @ (w[i] * SCALE))
import slipring.language as pl

BLOCKS, M, K, N = 4, 16, 64, 64
SCALE = 0.03125
W_SLOT, W_SLOTS = K * N * 2, 4
S_SLOT, S_SLOTS = M * N * 4, 2
W, S = 0, 1


@pl.incore
def vector(
    w: pl.Tensor[[BLOCKS * K, N], pl.INT8],
    out: pl.Out[pl.Tensor[[BLOCKS * M, N], pl.FP32]],
    w_slots: pl.InOut[pl.Tensor[[W_SLOTS * K, N], pl.FP16]],
    s_slots: pl.InOut[pl.Tensor[[S_SLOTS * M, N], pl.FP32]],
):
    weights = pl.import_peer_buffer(name="weights", peer_func=cube)
    scores = pl.reserve_buffer(name="scores", size=S_SLOTS * S_SLOT, base=pl.AUTO)
    prod = aiv_initialize_pipe(
        DIR_V2C, W_SLOT, w_slots, v2c_consumer_buf=weights.base, slot_num=weights.size // W_SLOT, id=W, lane=0
    )
    cons = aiv_initialize_pipe(DIR_C2V, S_SLOT, s_slots, c2v_consumer_buf=scores.base, slot_num=S_SLOTS, id=S, lane=1)
    if pl.get_subblock_idx() == 0:
        for i in pl.range(BLOCKS):
            row = i * K
            block = pl.cast(w[row : row + K, :], pl.FP16) * SCALE
            TPUSH(prod, block, weights)
    else:
        for i in pl.range(BLOCKS):
            s = TPOP(scores)
            e = pl.exp(pl.row_expand_sub(s, pl.row_max(s)))
            TFREE(s)
            row = i * M
            out[row : row + M, :] = pl.row_expand_div(e, pl.row_sum(e))


@pl.incore
def cube(
    a: pl.Tensor[[M, K], pl.FP16],
    w_slots: pl.InOut[pl.Tensor[[W_SLOTS * K, N], pl.FP16]],
    s_slots: pl.InOut[pl.Tensor[[S_SLOTS * M, N], pl.FP32]],
):
    weights = pl.reserve_buffer(name="weights", size=W_SLOTS * W_SLOT, base=pl.AUTO)
    scores = pl.import_peer_buffer(name="scores", peer_func=vector)
    aic_initialize_pipe(DIR_V2C, W_SLOT, w_slots, v2c_consumer_buf=weights.base, slot_num=W_SLOTS, id=W, lane=0)
    aic_initialize_pipe(DIR_C2V, S_SLOT, s_slots, c2v_consumer_buf=scores.base, slot_num=S_SLOTS, id=S, lane=1)
    for i in pl.range(BLOCKS):
        w = TPOP(weights)
        s = pl.matmul(a, w)
        TFREE(w)
        TPUSH(s, scores)
