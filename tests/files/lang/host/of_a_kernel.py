# What a compiled kernel says of itself is not known here: nothing follows from it.
# platforms: a5, a2a3
# test: run %s --arg full:f32[8x64]=1 --arg zeros:f32[8x64]
# out[1]: f32 512*2
import pypto.language as pl
import torch


@pl.jit
def add(a: pl.Tensor, out: pl.Out[pl.Tensor]):
    with pl.at(level=pl.Level.CORE_GROUP):
        out[:] = pl.add(a, 1.0)
    return out


compiled = add.compile(torch.ones(8, 64), torch.zeros(8, 64))
assert compiled.param_names == ["a", "out"]
assert compiled.platform in ("a2a3", "a5")
