# A pipe by hand: the Cube core's and the Vector cores' programs are two functions, which set up their ends of a ring, push, pop and
# free. out = (a @ b) * 2 by blocks of rows, each divided between the Vector cores.
import slipring.language as pl

BLOCKS, ROWS, N = 4, 32, 64
HALF = ROWS // 2
SLOT_SIZE, SLOT_NUM = ROWS * N * 4, 2


@pl.incore
def vector(
    out: pl.Out[pl.Tensor[[BLOCKS * ROWS, N], pl.FP32]],
    gm_slot_buffer: pl.InOut[pl.Tensor[[SLOT_NUM * ROWS, N], pl.FP32]],
):
    pipe_buf = pl.reserve_buffer(name="c2v_slot_buffer", size=SLOT_NUM * SLOT_SIZE, base=pl.AUTO)
    aiv_initialize_pipe(
        DIR_C2V, SLOT_SIZE, gm_slot_buffer, c2v_consumer_buf=pipe_buf.base, v2c_consumer_buf=0, slot_num=SLOT_NUM
    )
    lane = pl.get_subblock_idx()
    for i in pl.range(BLOCKS):
        tile = TPOP(pipe_buf, shape=[HALF, N], dtype=pl.FP32, split=pl.SplitMode.UP_DOWN)
        doubled = tile * 2.0
        TFREE(tile, split=pl.SplitMode.UP_DOWN)
        row = i * ROWS + lane * HALF
        out[row : row + HALF, :] = doubled


@pl.incore
def cube(
    a: pl.Tensor[[BLOCKS * ROWS, N], pl.FP16],
    b: pl.Tensor[[N, N], pl.FP16],
    gm_slot_buffer: pl.InOut[pl.Tensor[[SLOT_NUM * ROWS, N], pl.FP32]],
):
    peer_buf = pl.import_peer_buffer(name="c2v_slot_buffer", peer_func=vector)
    aic_initialize_pipe(
        DIR_C2V, SLOT_SIZE, gm_slot_buffer, c2v_consumer_buf=peer_buf.base, v2c_consumer_buf=0, slot_num=SLOT_NUM
    )
    for i in pl.range(BLOCKS):
        row = i * ROWS
        TPUSH(pl.matmul(a[row : row + ROWS, :], b), peer_buf, split=pl.SplitMode.UP_DOWN)
