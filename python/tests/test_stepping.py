"""`slipring.debug`: a run with tiles as arrays, forwards and backwards."""

import numpy as np
import pytest

import slipring
import slipring.language as pl


@pl.jit
def double(a: pl.Tensor, b: pl.Tensor, out: pl.Out[pl.Tensor]):
    product = pl.matmul(a[:, :], b[:, :])
    for lane in pl.split_aiv(2, mode=pl.SplitMode.UP_DOWN):
        out[lane * 32 : lane * 32 + 32, :] = pl.aiv_shard(product) * 2.0


@pytest.fixture
def arrays():
    generator = np.random.default_rng(1)
    a, b = (generator.standard_normal((64, 64)).astype(np.float16) for _ in range(2))
    return a, b, np.zeros((64, 64), np.float32)


def test_tiles_are_arrays_at_every_moment(arrays):
    a, b, out = arrays
    session = slipring.debug(double, *arrays)
    assert "[" in session("op tmatmul") and session.line is not None
    before = session.tile("product")
    assert before.shape == (64, 64) and not before.any()
    session("end")
    expected = a.astype(np.float32) @ b.astype(np.float32)
    np.testing.assert_allclose(session.tile("product"), expected, rtol=1e-5, atol=1e-4)
    np.testing.assert_allclose(session.buffer("out"), 2 * expected, rtol=1e-5, atol=2e-4)
    # The array that was passed is left as it is, and an earlier moment comes again.
    assert not out.any()
    session("rop tmatmul")
    assert not session.tile("product").any() and not session.buffer("out").any()


def test_conditions_and_schedules(arrays):
    session = slipring.debug(double, *arrays)
    assert "AIV0.MTE3" in session("until byte 4096 of out is written")
    assert session.buffer("out")[16].any()
    cycles = session.events[-1][3]
    held = slipring.debug(double, *arrays, schedule=["delay AIC.M work 1 by 500"])
    assert held.events[-1][3] == cycles + 500
    assert "delay AIC.M work 1 by 500" in held("held")
    with pytest.raises(ValueError, match="is not `delay"):
        slipring.debug(double, *arrays, schedule=["slower"])


def test_what_is_not_there_is_said(arrays):
    session = slipring.debug(double, *arrays)
    with pytest.raises(KeyError, match="there is no tile `nobody`"):
        session.tile("nobody")
    with pytest.raises(KeyError, match="no array is called `nobody`"):
        session.buffer("nobody")
    with pytest.raises(KeyError, match="and not on AIV7"):
        session.tile("product", core="AIV7")
    with pytest.raises(TypeError, match="a kernel is gone through"):
        slipring.debug(3)
    with pytest.raises(TypeError, match="`launches=` has no effect here"):
        slipring.debug(double, *arrays, launches=2)


def test_a_notebook_shows_the_moment(arrays):
    session = slipring.debug(double, *arrays)
    session("op tmatmul")
    page = session._repr_html_()
    # Waits are drawn otherwise than work: as many as the run has.
    assert page.count("fill-opacity='0.25'") == sum(session._inner.waits()) > 0
    assert f"cycle <b>{session.cycle}</b>" in page and "<svg" in page and "▶" in page
    assert "AIC.M" in page and "ring C2V" in page
    assert repr(session).startswith("<run at cycle ")
