# A push that nobody pops: neither a kernel for both kinds of core nor one core's program; a pop of a function for one kind of core
# without its end of a pipe.
#
# test: check %s
# exit: 2
import slipring.language as pl


@pl.incore
def f(x: pl.Tensor[[64, 64], pl.FP32], y: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
    # error: no-pipe nothing in this function pops what is pushed here
    TPUSH(pl.exp(x))
    y[:] = x


@pl.incore
def g(x: pl.Tensor[[64, 64], pl.FP32], y: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
    # error: no-pipe `pl.TPOP`: nothing has been pushed before into this pipe
    y[:] = TPOP(shape=[64, 64], dtype=pl.FP32)


@pl.function(type=pl.FunctionType.AIV)
def h(x: pl.Tensor[[64, 64], pl.FP32], y: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
    # error: no-pipe `pl.TPOP` without an end of a pipe
    y[:] = TPOP(shape=[64, 64], dtype=pl.FP32)
