"""Proofs from Python."""

import numpy as np
import pytest

import slipring.language as pl
from test_programs import twice


@pl.jit
def summed(x: pl.Tensor, n: pl.Scalar[pl.INDEX], out: pl.Out[pl.Tensor]):
    total = pl.load(x, [0, 0], [16, 64])
    for _ in pl.range(n):
        total = pl.add(total, x[:, :])
    out[:] = total


def test_a_kernel_is_proved_for_all_counts_and_leaves_its_outputs():
    x, out = np.ones((16, 64), np.float32), np.zeros((16, 64), np.float32)
    proof = summed.prove(x, 3, out)
    assert proof["verdict"] == "proved", proof["text"]
    assert not proof["findings"] and "proved" in proof["text"] and set(proof["scope"]) >= {"schedules", "values", "counts"}
    assert (out == 0).all()
    assert proof.verdict == "proved" and proof.scope == proof["scope"] and proof.text == proof["text"]
    with pytest.raises(AttributeError, match="no `verdit` among these facts: they are .*verdict"):
        proof.verdit


def test_programs_are_proved_kernel_by_kernel():
    a = np.zeros((64, 64), np.float32)
    with pytest.raises(TypeError, match="whole program"):
        twice.prove(a, a)
