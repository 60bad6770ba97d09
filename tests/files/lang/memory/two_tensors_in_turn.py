# Each iteration of a loop makes a tensor of its own, and writes it while the one of the iteration before is still read.
#
# platforms: a5, a2a3
# args: full:f32[16x16]=2 zeros:f32[16x16]
# test: run %s --verify
# check: verify clean
# out[1]: f32 5 5 5 …
import slipring.language as pl


@pl.incore
def f(x: pl.Tensor[[16, 16], pl.FP32], out: pl.Out[pl.Tensor[[16, 16], pl.FP32]]):
    for i, (before,) in pl.range(3, init_values=(x,)):
        made = pl.create_tensor([16, 16], dtype=pl.FP32)
        t = pl.load(x, [0, 0], [16, 16])
        made = pl.store(pl.mul(t, 3.0), [0, 0], made)
        old = pl.load(before, [0, 0], [16, 16])
        made = pl.store(pl.add(old, 1.0), [0, 0], made)
        last = pl.yield_(made)
    out = pl.store(pl.load(last, [0, 0], [16, 16]), [0, 0], out)
