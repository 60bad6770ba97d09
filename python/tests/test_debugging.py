"""What a kernel's author sees while something is wrong: what it prints, claims, findings in their words, tracebacks."""

import traceback
import warnings

import numpy as np
import pytest

import slipring
import slipring.language as pl

X = np.arange(32 * 64, dtype=np.float32).reshape(32, 64)


@pl.jit
def talks(x: pl.Tensor, out: pl.Out[pl.Tensor], n: pl.Scalar[pl.INT32] = 2):
    pl.print("begin")
    for i in pl.range(n):
        t = x[i : i + 1, 0:4] / 8.0
        pl.print("row", t)
        out[i : i + 1, 0:4] = t
    pl.print(n, label="n")


SAID = """begin (AIV0, block 0)
row: f32[1, 4] (AIV0, block 0, i = 0)
  0 0.125 0.25 0.375
row: f32[1, 4] (AIV0, block 0, i = 1)
  8 8.125 8.25 8.375
n: 2 (AIV0, block 0)
"""


def test_calls_show_what_kernels_print(capsys, platform):
    talks.run(X, np.zeros_like(X), platform=platform)
    assert capsys.readouterr().out == ""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        talks(X, np.zeros_like(X), platform=platform)
    assert capsys.readouterr().out == SAID


def test_both_kinds_of_core_print_in_the_order_of_the_text(platform):
    @pl.jit
    def mixed(x: pl.Tensor, out: pl.Out[pl.Tensor]):
        for i in pl.range(2):
            pl.print(i, label="iteration")
            s = pl.row_sum(pl.matmul(x[:, :], x[:, :]))
            pl.print(s[0:1, :], label="sum")
            out[:, :] = s

    eye = np.eye(16, dtype=np.float32)
    said = mixed.run(eye, np.zeros((16, 1), np.float32), platform=platform).printed
    assert [line.split(" (")[0] for line in said] == ["iteration: 0", "sum: f32[1, 1]", "  1"] + ["iteration: 1", "sum: f32[1, 1]", "  1"]


def test_static_print_is_said_once(capsys):
    @pl.jit
    def shapes(x: pl.Tensor, out: pl.Out[pl.Tensor]):
        pl.static_print("shape", x.shape)
        out[:, :] = x[:, :]

    shapes(X, X.copy())
    shapes(X, X.copy())
    assert capsys.readouterr().out == "shape (32, 64)\n"


@pl.jit
def rows(x: pl.Tensor, out: pl.Out[pl.Tensor], count: pl.Scalar[pl.INT32]):
    for i in pl.range(count):
        out[i : i + 1, :] = x[i : i + 1, :]


def test_findings_speak_of_what_was_written(platform):
    with pytest.raises(slipring.KernelError) as caught:
        rows(X, np.zeros((48, 64), np.float32), 41, platform=platform)
    first = caught.value.findings[0]
    assert first["message"].startswith("`x[32:33, :]` is outside of `x[32, 64]`; i = 32 (line ")
    assert first["message"].endswith("), count = 41") and "at byte 8192" in first["notes"][0]
    said = "".join(traceback.format_exception(caught.value))
    assert "_kernel.py" not in said and "_runs.py" not in said and "slipring.KernelError" in said


def test_claims(platform):
    @pl.jit
    def claims(x: pl.Tensor, out: pl.Out[pl.Tensor], n: pl.Scalar[pl.INT32]):
        for i in pl.range(0, 32, 16):
            assert i + 16 <= x.shape[0], "known"
            out[i : i + 16, :] = x[i : i + 16, :]
        assert n > 3, f"n is {n}"

    # Of the claim that always holds nothing is left.
    assert claims.compile(X, X, 5).text.count("pto.trap") == 1
    claims(X, X.copy(), 5, platform=platform)
    with pytest.raises(slipring.KernelError, match="`n > 3` does not hold: n is 2; n = 2"):
        claims(X, X.copy(), 2, platform=platform)


def test_options_are_pythons():
    @pl.jit
    def long(x: pl.Tensor, out: pl.Out[pl.Tensor]):
        for i in pl.range(1000):
            out[:, :] = x[:, :]

    run = long.run(X, X.copy(), max_steps=100)
    assert "`max_steps=`" in run.report and "--max" not in run.report


def test_reference_prints_and_stops_as_python(monkeypatch, capsys):
    @pl.jit
    def stops(x: pl.Tensor, out: pl.Out[pl.Tensor]):
        print("here", x.shape)
        breakpoint()
        out[:, :] = x[:, :]

    seen = []
    monkeypatch.setattr("sys.breakpointhook", lambda *args: seen.append(True))
    out = np.zeros_like(X)
    stops.reference(X, out)
    assert seen == [True] and capsys.readouterr().out == "here (32, 64)\n" and (out == X).all()
    with pytest.warns(slipring.KernelWarning, match="does not stop"):
        stops(X, out)
