# Tiles of more than 2^24 bytes: `build` says what `check` says.
#
# test: check %s --arch a5
# exit: 2
# test: build %s --arch a5
# exit: 2
import slipring.language as pl


@pl.incore
def long(x: pl.Tensor[[1, 16777216], pl.FP16], y: pl.Out[pl.Tensor[[1, 16777216], pl.FP16]]):
    # error: memory-full 33554432 bytes are in use at the same time
    t = pl.load(x, [0, 0], [1, 16777216])
    y[:, :] = t
