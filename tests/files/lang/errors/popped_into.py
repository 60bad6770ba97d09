# A pop with three operands takes its tile into a name of its own, in the memory that the core pops into.
#
# test: check %s
# exit: 2
import slipring.language as pl


@pl.incore
def vector(y: pl.Out[pl.Tensor[[16, 16], pl.FP32]]):
    fifo = pl.reserve_buffer(name="one", size=2048, base=pl.AUTO)
    cons = aiv_initialize_pipe(DIR_C2V, 1024, c2v_consumer_buf=fifo.base, slot_num=2)
    tile = pl.create_tile([16, 16], dtype=pl.FP32)
    same = tile
    # error: alias several names refer to the tile that is popped into
    TPOP(cons, tile, fifo)
    other = pl.create_tile([16, 16], dtype=pl.FP32, target_memory=pl.Mem.Mat)
    # error: tile-space the vector core pops into `vec`, and this tile is in `mat`
    TPOP(cons, other, fifo)
    y[:] = same
