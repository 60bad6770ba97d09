"""Python's habits: constants, launches, tuning, pickles, methods, numpy's scalars."""

import collections
import functools
import importlib.util
import linecache
import pickle
import sys

import numpy as np
import pytest

import slipring
import slipring.language as pl
from slipring._source import keyed

X = np.ones((32, 64), np.float32)


@pl.jit
def tiled(x: pl.Tensor, out: pl.Out[pl.Tensor], TILE: pl.constexpr = 16, s: pl.Scalar[pl.FP32] = 2.0):
    for i in pl.range(0, x.shape[0], TILE):
        out[i : i + TILE, :] = x[i : i + TILE, :] * s


def total(kernel, *args, **named):
    out = np.zeros_like(X)
    kernel(X, out, *args, **named)
    return out.sum()


def test_constants_and_defaults():
    assert total(tiled) == total(tiled, 8) == total(tiled, TILE=5) == 4096
    assert total(tiled, s=3.0) == 6144 and total(tiled, s=np.float64(3)) == 6144
    assert tiled.run(X, X.copy(), TILE=4).cycles != tiled.run(X, X.copy(), TILE=32).cycles

    @pl.jit
    def scalar(x: pl.Tensor, out: pl.Out[pl.Tensor], n: pl.Scalar[pl.INT32] = 16):
        for i in pl.range(0, x.shape[0], n):
            out[i : i + n, :] = x[i : i + n, :]

    assert total(scalar) == total(scalar, 8) == total(scalar, np.int64(4)) == 2048


def test_blocks():
    @pl.jit
    def each(x: pl.Tensor, out: pl.Out[pl.Tensor]):
        i = pl.program_id(0) * 8
        out[i : i + 8, :] = x[i : i + 8, :]

    assert total(each[4]) == 2048
    for wrong in (0, -1):
        with pytest.raises(ValueError, match="`blocks=` takes a number from 1 to 4096"):
            each.run(X, X.copy(), blocks=wrong)
    with pytest.raises(TypeError, match="one axis"):
        each[2, 2]
    assert each.run(X, X.copy(), blocks=4, check=["memory", "race"]).verdict == "clean"


def test_tuning(tmp_path, monkeypatch):
    monkeypatch.setenv("SLIPRING_AUTOTUNE", str(tmp_path / "kept.json"))

    @pl.autotune([pl.Config({"TILE": 4}), {"TILE": 32}, {"TILE": 64}], key=["x"])
    @pl.jit
    def tuned(x: pl.Tensor, out: pl.Out[pl.Tensor], TILE: pl.constexpr):
        for i in pl.range(0, x.shape[0], TILE):
            out[i : i + TILE, :] = x[i : i + TILE, :] * 2.0

    out = np.zeros_like(X)
    tuned(X, out)
    assert (out == 2).all()
    cycles = [tuned.kernel.run(X, out, TILE=n).cycles for n in (4, 32)]
    assert tuned.tune(X, out) == {"TILE": 32} and cycles[1] < cycles[0]
    assert (tmp_path / "kept.json").is_file()
    with pytest.raises(TypeError, match="no parameter `BLOCK`"):
        pl.autotune([{"BLOCK": 3}])(tuned.kernel)
    rows = tiled.benchmark(X, out)
    assert [row["platform"] for row in rows] == ["a5", "a2a3"] and all(row["cycles"] > 0 for row in rows)
    assert (out == 2).all() and "<table>" in rows._repr_html_()


def test_pickles():
    assert pickle.loads(pickle.dumps(tiled)) is tiled
    run = tiled.run(X, np.zeros_like(X))
    again = pickle.loads(pickle.dumps(run))
    assert (again.cycles, again.verdict, again.text()) == (run.cycles, "clean", run.text())
    assert (again.get("out") == 2).all() and again.findings == run.findings
    again.check()

    @pl.jit
    def local(x: pl.Tensor, out: pl.Out[pl.Tensor]):
        out[0:64, :] = x[:, :]

    with pytest.raises(pickle.PicklingError, match="cannot be imported"):
        pickle.dumps(local)
    with pytest.raises(slipring.KernelError) as caught:
        local(X, X.copy())
    error = pickle.loads(pickle.dumps(caught.value))
    assert str(error) == str(caught.value) and error.findings == caught.value.findings and error.lineno == caught.value.lineno


Pair = collections.namedtuple("Pair", "tile scale")
PAIR = Pair(8, 3.0)


class Net:
    def __init__(self, scale):
        self.scale = scale

    @pl.jit
    def forward(self, x: pl.Tensor, out: pl.Out[pl.Tensor]):
        out[:, :] = x[:, :] * self.scale

    @staticmethod
    @pl.jit
    def outer(x: pl.Tensor, out: pl.Out[pl.Tensor]):
        out[:, :] = x[:, :] * PAIR.scale

    @pl.jit
    @staticmethod
    def inner(x: pl.Tensor, out: pl.Out[pl.Tensor]):
        out[:, :] = x[:, :] * PAIR.scale


def plain(x: pl.Tensor, out: pl.Out[pl.Tensor], TILE: pl.constexpr):
    for i in pl.range(0, 32, TILE):
        out[i : i + TILE, :] = x[i : i + TILE, :]


def test_methods_and_partial_functions():
    assert total(Net(2.0).forward) == 4096 and total(Net(4.0).forward) == 8192
    assert total(Net.outer) == total(Net(1).outer) == total(Net(1).inner) == 6144
    assert total(functools.partial(tiled, TILE=8)) == 4096
    assert total(pl.jit(functools.partial(plain, TILE=8))) == total(pl.jit(plain), 16) == 2048


def test_numpys_scalars_and_empty_arrays():
    @pl.jit
    def choose(x: pl.Tensor, out: pl.Out[pl.Tensor], yes: pl.Scalar[pl.BOOL]):
        if yes:
            out[:, :] = x[:, :]
        else:
            out[:, :] = x[:, :] * 2.0

    assert total(choose, np.bool_(True)) == 2048 and total(choose, np.bool_(False)) == 4096
    empty = np.zeros((0, 64), np.float32)
    run = tiled.run(empty, empty.copy())
    assert run.verdict == "clean" and run.cycles == 0 and tiled(empty, empty.copy()) is None


def test_empty_arrays_fit_their_parameters():
    @pl.jit
    def fixed(x: pl.Tensor[[16, 64], pl.FP32], out: pl.Out[pl.Tensor[[16, 64], pl.FP32]]):
        out[:, :] = x[:, :]

    some, empty = np.zeros((16, 64), np.float32), np.zeros((0, 64), np.float32)
    for x, out in ((empty, empty.copy()), (some, empty), (some, np.zeros((16, 0), np.float32))):
        with pytest.raises(TypeError, match=r"where f32\[16x64\] is expected"):
            fixed(x, out)
    with pytest.raises(TypeError, match="float64"):
        tiled(empty.astype(np.float64), empty.copy())


def test_the_source_of_the_definition_is_what_runs(tmp_path):
    text = (
        "import slipring.language as pl\n@pl.jit\n"
        "def k(x: pl.Tensor, out: pl.Out[pl.Tensor]):\n    out[:, :] = x[:, :] * 2.0\n"
    )
    file = tmp_path / "edited.py"
    file.write_text(text)
    spec = importlib.util.spec_from_file_location("edited", file)
    module = importlib.util.module_from_spec(spec)
    sys.modules["edited"] = module
    spec.loader.exec_module(module)
    file.write_text("# a line more\n" + text.replace("2.0", "5.0"))
    linecache.checkcache(str(file))
    assert total(module.k) == 4096


def test_long_tuples_are_looked_at_once():
    numbers = tuple(range(100_000))

    @pl.jit
    def constant(x: pl.Tensor, out: pl.Out[pl.Tensor]):
        out[:, :] = x[:, :] * numbers[3]

    assert total(constant) == 6144
    # Where it has been looked at it is compared by what it is, without a walk through it.
    first, second = (constant._parts()[1].own[0]["numbers"] for _ in range(2))
    assert keyed(first) == keyed(second) != repr(numbers)


def test_proofs_and_graphs_are_shown():
    proof = tiled.prove(X, X.copy())
    assert proof["verdict"] == "proved" and "<pre>" in proof._repr_html_() and proof.text.startswith("proved")
