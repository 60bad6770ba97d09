# What a loop yields is no assignment of the function, by whatever name `pl.yield_` goes.
#
# test: check %s
import slipring.language as pl
from slipring.language import yield_ as passed_on


@pl.function(strict_ssa=True)
def summed(x: pl.Tensor[[4, 8], pl.FP32], y: pl.Out[pl.Tensor[[4, 8], pl.FP32]]):
    t = pl.load(x, [0, 0], [4, 8])
    for i, (s,) in pl.range(4, init_values=(t,)):
        u = pl.add(s, t)
        s = passed_on(u)
    pl.store(s, [0, 0], y)
