# A line that becomes an instruction for each row has its mistake once.
#
# platforms: a5, a2a3
# test: check %s
# exit: 2
# check: `indices` has `f32`
import slipring.language as pl


@pl.jit
def f(x: pl.Tensor[[8, 8], pl.FP32], i: pl.Tensor[[8, 8], pl.FP32], y: pl.Out[pl.Tensor[[8, 8], pl.FP32]]):
    # error: tile-elem `pto.tgather` as indices works on
    y[:] = pl.gather(x, -1, i)
