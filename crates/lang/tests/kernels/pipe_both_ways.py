# C = (A + 1) × B + 2 by hand: tiles go to the Cube core and their product comes back.
import slipring.language as pl

BYTES = 32 * 64 * 4


@pl.incore
def vectors(
    a: pl.Tensor[[32, 64], pl.FP32],
    c: pl.Out[pl.Tensor[[32, 32], pl.FP32]],
    slots: pl.InOut[pl.Tensor[[65536], pl.FP32]],
):
    own = pl.reserve_buffer(name="c2v", size=4 * BYTES, base=pl.AUTO)
    peer = pl.import_peer_buffer(name="v2c", peer_func=cube)
    aiv_initialize_pipe(pl.DIR_BOTH, BYTES, slots, c2v_consumer_buf=own.base, v2c_consumer_buf=peer.base)
    row = pl.get_subblock_idx() * 16
    TPUSH(pl.add(a[row : row + 16, :], 1.0), peer, split=1)
    product = TPOP(own)
    c[row : row + 16, :] = pl.add(product, 2.0)
    TFREE(product)


@pl.incore
def cube(b: pl.Tensor[[64, 32], pl.FP32], slots: pl.InOut[pl.Tensor[[65536], pl.FP32]]):
    own = pl.reserve_buffer(name="v2c", size=4 * BYTES, base=pl.AUTO)
    peer = pl.import_peer_buffer(name="c2v", peer_func=vectors)
    aic_initialize_pipe(pl.DIR_BOTH, BYTES, slots, c2v_consumer_buf=peer.base, v2c_consumer_buf=own.base)
    left: pl.Tile[[32, 64], pl.FP32] = TPOP(own, split=1)
    product = pl.matmul(left, b)
    TFREE(left)
    TPUSH(product, peer, split=1)
