# A bare `pl.Tensor` has the shape of what the file's own host code passes, or of the argument.
# test: run %s --arg a=full:f32[8x16]=2.0 --arg b=full:f32[8x16]=3.0 --arg out=zeros:f32[8x16]
# out[2]: f32 128*10.0
# test: run %s --arg full:f16[4x32]=2.0 --arg full:f16[4x32]=3.0 --arg zeros:f16[4x32]
# out[2]: f16 128*10.0
# test: run %s --arg b=full:f32[64x32]=3.0 --arg a=full:f32[64x32]=1.0 --arg out=zeros:f32[64x32]
# out[2]: f32 2048*8.0
# test: check %s
# check: ok, 1 function
# test: run %s --arg c=zeros:f32[64x32]
# exit: 2
# check: the kernel has no parameter `c`; it has `a`, `b`, `out`
import pypto.language as pl
import torch

ROWS = 64


@pl.jit.inline
def doubled(x: pl.Tensor):
    return x + x


@pl.jit
def add(a: pl.Tensor, b: pl.Tensor, out: pl.Out[pl.Tensor]):
    with pl.at(level=pl.Level.CORE_GROUP):
        rows, cols = a.shape
        out[0:rows, 0:cols] = doubled(a[:, :] + b)
    return out


def fresh(rows=ROWS):
    return torch.zeros(rows, 32, dtype=torch.float32)


if __name__ == "__main__":
    left = torch.randn(ROWS, 32)
    c = fresh()
    add(left, torch.full((ROWS, 32), 3.0), c, config=None)
    assert torch.allclose(c, (left + 3.0) * 2)
