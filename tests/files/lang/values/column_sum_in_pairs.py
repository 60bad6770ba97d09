# `pl.col_sum` with working memory adds rows in pairs, without it row after row on A2/A3, two rows at a time on A5. Seven rows, so
# that one is left over in two rounds; f16, so that the order shows.
#
# args: iota:f16[7x16] zeros:f16[1x16] zeros:f16[1x16]
# test: run %s --verify
# check: verify clean
# out[1]: f16 23296 23968 24656 25376 26096 26816 27568 28336 29120 29904 30704 31520 32368 33216 34048 34944
# out[2]: f16 23296 23968 24656 25376 26096 26816 27568 28336 29120 29904 30704 31536 32368 33216 34048 34944
# test: run %s --arch a2a3 --verify
# check: verify clean
# out[1]: f16 23296 23968 24672 25376 26096 26816 27584 28336 29120 29904 30720 31536 32368 33216 34048 34944
# out[2]: f16 23296 23968 24656 25376 26096 26848 27568 28336 29120 29904 30704 31552 32368 33216 34048 34944
import slipring.language as pl


@pl.incore
def f(
    x: pl.Tensor[[7, 16], pl.FP16],
    pairs: pl.Out[pl.Tensor[[1, 16], pl.FP16]],
    alone: pl.Out[pl.Tensor[[1, 16], pl.FP16]],
):
    t = pl.load(x, [0, 0], [7, 16])
    t = t * t
    tmp = pl.create_tile([3, 16], dtype=pl.FP16)
    pairs[:] = pl.col_sum(t, tmp)
    alone[:] = pl.col_sum(t)
