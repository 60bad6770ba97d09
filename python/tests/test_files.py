"""Kernels and whole programs of files."""

import pathlib

import numpy as np
import pytest

import slipring
import slipring.language as pl

FILES = pathlib.Path("tests/files")


def test_a_kernel_takes_its_open_shapes_from_the_arrays():
    kernel = slipring.open(FILES / "lang/host/open_shapes.py")
    with pytest.raises(slipring.KernelError, match="the shape of `a` is not known"):
        kernel.parameters
    a, out = np.ones((16, 16), np.float32), np.zeros((16, 16), np.float32)
    kernel(a, out=out)
    assert (out == 2).all()
    with pytest.raises(slipring.KernelError):
        kernel(np.ones((2, 16, 16), np.float32), out)


def test_errors_of_a_text_are_there_at_once(tmp_path):
    wrong = tmp_path / "wrong.pto"
    wrong.write_text("func.func @f() { pto.nothing }\n")
    with pytest.raises(slipring.KernelError, match="pto.nothing"):
        slipring.open(wrong)
    wrong = tmp_path / "wrong.py"
    wrong.write_text((FILES / "programs/scopes.py").read_text().replace("pl.mul(", "pl.mull("))
    with pytest.raises(slipring.KernelError, match="mull"):
        slipring.open(wrong)
    with pytest.raises(OSError):
        slipring.open(tmp_path / "missing.py")


def test_whole_programs():
    program = slipring.open(FILES / "programs/scopes.py", platform="a2a3")
    assert [parameter[0] for parameter in program.parameters] == ["x", "out"]
    x = np.arange(1024, dtype=np.float32).reshape(64, 16)
    out = np.zeros_like(x)
    run = program.run(x, out, verify=True)
    assert (run.verdict, run.platform, len(run.tasks)) == ("clean", "a2a3", 6)
    wanted = 4 * x
    wanted[48:] += 1
    assert np.array_equal(out, wanted)
    back = program(x, np.zeros_like(x))
    assert np.array_equal(back, wanted)


HALVES = """
import pypto.language as pl

@pl.jit
def halves(x: pl.Tensor, n: pl.Scalar[pl.INT32], out: pl.Out[pl.Tensor]):
    for i in pl.range(n):
        with pl.at(level=pl.Level.CORE_GROUP, name_hint="half"):
            out[:] = pl.mul(x[:, :] if i == 0 else out[:, :], SCALE)
    return out

SCALE = 0.5
"""


def test_tasks_follow_from_numbers_and_values_from_the_call(tmp_path):
    file = tmp_path / "halves.py"
    file.write_text(HALVES)
    x = np.full((16, 64), 8, np.float32)
    program = slipring.open(file)
    for n, left in [(1, 4), (3, 1)]:
        out = np.zeros_like(x)
        run = program.run(x, n, out)
        assert (run.verdict, len(run.tasks)) == ("clean", n) and (out == left).all()
    out = np.zeros_like(x)
    slipring.open(file, values={"SCALE": 0.25})(x, n=1, out=out)
    assert (out == 2).all()


@pl.jit
def padded(x: pl.Tensor, out: pl.Out[pl.Tensor]):
    with pl.at(level=pl.Level.CORE_GROUP):
        part = pl.load(x, [0, 0], [16, 64], valid_shape=[16, 32])
        out[:] = pl.fillpad(part, pad_value=pl.PadValue.max)


def test_other_interpretations_of_functions():
    x = np.ones((16, 64), np.float32)
    for interpretation, wanted, said in [((), np.inf, 1), ("finite-pad", np.finfo(np.float32).max, 0)]:
        out = np.zeros_like(x)
        run = padded.run(x, out, interpretation=interpretation)
        assert out[0, -1] == wanted and len(run.findings) == said


def test_other_interpretations_of_files():
    def left(**options):
        x, out = np.arange(4, dtype=np.float32).reshape(1, 4), np.zeros((1, 8), np.float32)
        kernel = slipring.open(FILES / "ops/interpretations/finite_pad.pto", function="fill", **options)
        run = kernel.run(x, out)
        return out[0, 7], [finding["code"] for finding in run.findings]

    assert left() == (np.inf, ["sources-disagree"])
    assert left(interpretation="finite-pad") == (np.finfo(np.float32).max, [])
    # Its former name.
    assert left(reading="finite-pad") == left(interpretation="finite-pad")
    with pytest.raises(ValueError, match="no interpretation `infinite`; the interpretations are .*finite-pad"):
        left(interpretation=["infinite"])


def test_a_kernel_with_open_shapes_that_returns_a_tile(tmp_path):
    path = tmp_path / "twice.py"
    path.write_text(
        "import slipring.language as pl\n\n\n@pl.jit\ndef twice(x: pl.Tensor):\n"
        "    with pl.at(level=pl.Level.CORE_GROUP):\n        t = x[:, :] * 2.0\n    return t\n"
    )
    kernel = slipring.open(path)
    x = np.arange(1024, dtype=np.float32).reshape(16, 64)
    for call in (lambda: kernel(x), lambda: kernel(x=x), lambda: kernel.run(x).returned):
        np.testing.assert_array_equal(call(), 2 * x)
