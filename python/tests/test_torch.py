"""Tensors of torch as arguments; skipped where torch is not installed (`SLIPRING_TORCH=1 cargo test -p slipring-python`)."""

import pytest

import slipring.language as pl

torch = pytest.importorskip("torch", reason="torch is not installed")


@pl.jit
def doubled(x: pl.Tensor, out: pl.Out[pl.Tensor]):
    with pl.at(level=pl.Level.CORE_GROUP):
        t = x[:, :]
        out[:] = pl.add(t, t)


@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16", "int32"])
def test_outputs_are_written_in_place(dtype):
    x = torch.arange(16 * 64).reshape(16, 64).to(getattr(torch, dtype))
    out = torch.zeros_like(x)
    doubled(x, out)
    assert torch.equal(out, x + x)


def test_strides_of_outputs_are_kept():
    x = torch.arange(16 * 64, dtype=torch.float32).reshape(16, 64)
    wide = torch.full((16, 128), -1.0)
    doubled(x, wide[:, ::2])
    assert torch.equal(wide[:, ::2], x + x)
    assert torch.equal(wide[:, 1::2], torch.full((16, 64), -1.0))


def test_inputs_may_ask_for_gradients():
    x = torch.ones(16, 64, requires_grad=True)
    out = torch.zeros(16, 64)
    doubled(x, out)
    assert torch.equal(out, torch.full((16, 64), 2.0))
    assert not out.requires_grad
