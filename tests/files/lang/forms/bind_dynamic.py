# An extent that a call decides has a name, which stands for its number.
# platforms: a5, a2a3
# test: run %s --arg iota:f32[4x16] --arg zeros:f32[4x16]
# out[1]: f32 0 4 8 12 16 20 24 28 32 36 40 44 48 52 56 60 64 68 72 76 80 84 88 92 96 100 104 108 112 116 120 124 128 132 136 140 144 148 152 156 160 164 168 172 176 180 184 188 192 196 200 204 208 212 216 220 224 228 232 236 240 244 248 252
import pypto.language as pl
import torch

M = pl.dynamic("M")


@pl.jit
def kernel(a: pl.Tensor, c: pl.Out[pl.Tensor]):
    a.bind_dynamic(0, M)
    c.bind_dynamic(0, M)
    with pl.at(level=pl.Level.CORE_GROUP):
        c[:] = pl.load(a, [0, 0], [M, 16]) * M
    return c


kernel(torch.ones(4, 16), torch.zeros(4, 16))
