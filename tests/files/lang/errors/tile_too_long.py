# A tile has a place in the text that is built: what is longer is refused where it is made.
#
# test: check %s
# exit: 2
# test: build %s
# exit: 2
import slipring.language as pl


@pl.incore
def long(x: pl.Tensor[[1, 33554432], pl.FP16], y: pl.Out[pl.Tensor[[1, 33554432], pl.FP16]]):
    # error: memory-full 67108864 bytes are in use at the same time
    t = pl.load(x, [0, 0], [1, 33554432])
    y[:, :] = t
