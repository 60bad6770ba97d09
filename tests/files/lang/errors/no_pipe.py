# A push without an end of a pipe.
#
# test: check %s
# exit: 2
import slipring.language as pl


@pl.incore
def f(x: pl.Tensor[[64, 64], pl.FP32], y: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
    # error: no-pipe `pl.TPUSH` without an end of a pipe
    TPUSH(pl.exp(x))
    y[:] = x
