# A pipe is named in one way, and by its own memory; what a peer does not reserve has no size.
#
# test: check %s
# exit: 2
import slipring.language as pl


@pl.incore
def vector(y: pl.Out[pl.Tensor[[16, 16], pl.FP32]]):
    one = pl.reserve_buffer(name="one", size=2048, base=pl.AUTO)
    two = pl.reserve_buffer(name="two", size=2048, base=pl.AUTO)
    aiv_initialize_pipe(DIR_C2V, 1024, c2v_consumer_buf=one.base, slot_num=2, id=1)
    # error: pipe-buffer no end of a pipe of this function has its slots in `two` in this direction
    a = TPOP(two, shape=[16, 16], dtype=pl.FP32)
    # error: pipe-id this is pipe 1, and the op names pipe 2 too
    b = TPOP(one, shape=[16, 16], dtype=pl.FP32, id=2)
    y[:] = a + b


@pl.incore
def cube(x: pl.Tensor[[16, 16], pl.FP32]):
    peer = pl.import_peer_buffer(name="three", peer_func=vector)
    # error: buffer-size the size of `three` is not known: `vector` reserves no memory of that name
    aic_initialize_pipe(DIR_C2V, 1024, c2v_consumer_buf=peer.base, slot_num=peer.size // 1024, id=1)
    TPUSH(pl.matmul(x, x), id=1)
