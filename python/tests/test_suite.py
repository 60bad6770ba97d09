"""The harness of the public system tests, on tests of our own that are written as those are: what it counts, and how."""

import importlib.machinery
import importlib.util
import json
import os
import pathlib
import subprocess
import sys

import pytest

# Tests of the public language are written on tensors of torch.
with_torch = pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="torch is not installed")

TOP = pathlib.Path(__file__).resolve().parents[2]
SCRIPT = TOP / "scripts/public_suite"

HARNESS = '''
"""Cases: a program, its tensors, and what it computes."""
import dataclasses

from pypto.runtime.runner import RunConfig
from pypto.runtime.tensor_spec import ScalarSpec, TensorSpec

PLATFORMS = ["a2a3sim", "a5sim"]


class Case:
    __test__ = False

    def __init__(self, config=None):
        self.config = config or RunConfig(rtol=1e-5, atol=1e-5)
        self.tensor_specs = self.define_tensors()

    def get_name(self):
        return type(self).__name__

    def get_platform(self):
        return None

    def define_scalars(self):
        return []
'''

TESTS = '''
import pypto.language as pl
import pytest
import torch
from harness.core.harness import PLATFORMS, Case
from pypto import ir
from pypto.debug import torch_codegen
from pypto.ir.pass_manager import OptimizationStrategy, PassManager
from pypto.runtime import RunConfig, run
from pypto.runtime.tensor_spec import ScalarSpec, TensorSpec


@pl.program
class Scaled:
    @pl.function(type=pl.FunctionType.InCore)
    def rows(self, x: pl.Tensor[[32, 64], pl.FP32], by: pl.Scalar[pl.FP32], y: pl.Out[pl.Tensor[[32, 64], pl.FP32]]):
        return pl.store(pl.muls(pl.load(x, [0, 0], [32, 64]), by), [0, 0], y)

    @pl.function(type=pl.FunctionType.Orchestration)
    def main(self, x: pl.Tensor[[32, 64], pl.FP32], y: pl.Out[pl.Tensor[[32, 64], pl.FP32]], by: pl.Scalar[pl.FP32]):
        y = self.rows(x, by, y)
        return y


class ScaledCase(Case):
    factor = 3.0

    def get_program(self):
        return Scaled

    def define_tensors(self):
        return [
            TensorSpec("x", [32, 64], torch.float32, init_value=torch.randn),
            TensorSpec("y", [32, 64], torch.float32, is_output=True),
        ]

    def define_scalars(self):
        return [ScalarSpec("by", 3.0, ctype="float")]

    def compute_expected(self, tensors, params=None):
        tensors["y"][:] = tensors["x"] * self.factor


class WrongCase(ScaledCase):
    factor = 3.5


@pl.jit
def doubled(x: pl.Tensor, y: pl.Out[pl.Tensor]):
    with pl.at(level=pl.Level.CORE_GROUP, name_hint="twice"):
        y = pl.assemble(y, pl.mul(x, 2.0), [0, 0])
    return y


@pl.program
class Summed:
    @pl.function(type=pl.FunctionType.Opaque)
    def main(self, a: pl.Tensor[[32, 32], pl.FP32], c: pl.Tensor[[32, 32], pl.FP32]):
        with pl.at(level=pl.Level.CORE_GROUP):
            c = pl.assemble(c, pl.add(c, pl.matmul(a, a)), [0, 0])
        return c


def printed(program):
    return str(program)


@pytest.mark.parametrize("platform", PLATFORMS)
def test_values(test_runner, platform):
    result = test_runner.run(ScaledCase())
    assert result.passed, f"{result.error}"


def test_wrong(test_runner):
    result = test_runner.run(WrongCase())
    assert result.passed, f"{result.error}"


def test_refused(test_config):
    x = torch.zeros(32, 64)
    doubled.lower(x, torch.zeros(32, 48), config=test_config)


def test_refused_as_it_should(test_config):
    with pytest.raises(ValueError) as caught:
        doubled.lower(torch.zeros(32, 64), torch.zeros(32, 48), config=test_config)
    message = str(caught.value)
    assert "words of the public compiler" in message


def test_compiled_only(test_config):
    program = doubled.lower(torch.zeros(32, 64), torch.zeros(32, 64), config=test_config)
    text = printed(program)
    body = text.split("def twice_aiv")[1]
    assert "pl.tile.muls" in body


def test_codegen_only(tmp_path):
    config = RunConfig(codegen_only=True, save_kernels=True, save_kernels_dir=str(tmp_path))
    y = torch.zeros(32, 64)
    doubled(torch.ones(32, 64), y, config=config)
    assert sorted(tmp_path.rglob("*.pto")), "no text"
    assert not y.any(), "it did not run"


def test_run_in_one_call(test_config):
    y = torch.zeros(32, 64)
    compiled = run(Scaled, torch.ones(32, 64), y, 3.0, config=test_config)
    torch.testing.assert_close(y, torch.full((32, 64), 3.0))
    assert compiled.param_names == ["x", "y", "by"]


def test_meaning():
    transformed = PassManager.get_strategy(OptimizationStrategy.Default).run_passes(Summed)
    code = torch_codegen(transformed, check_shapes=True)
    assert "push_to_" in code
    names = {}
    exec(code, names)
    a, c = torch.randn(32, 32), torch.randn(32, 32)
    wanted = c + a @ a
    names["main"](a, c)
    assert torch.allclose(c, wanted, rtol=1e-4, atol=1e-4)
    assert isinstance(transformed, ir.Program)
'''

WANTED = {
    "test_values": "passed",
    "test_wrong": "disagrees",
    "test_refused": "refused",
    "test_refused_as_it_should": "passed",
    "test_compiled_only": "compiled",
    "test_codegen_only": "passed",
    "test_run_in_one_call": "passed",
    "test_meaning": "passed",
}


@pytest.fixture(scope="module")
def checkout(tmp_path_factory):
    """A folder that looks like a checkout of the public language, as far as the script looks at it."""
    top = tmp_path_factory.mktemp("checkout")
    for name in ("tests/st/harness/core", "tests/st/distributed", "tests/st/examples", "tests/st/codegen", "examples", "docs/en"):
        (top / name).mkdir(parents=True)
    (top / "tests/st/harness/core/harness.py").write_text(HARNESS)
    (top / "tests/st/examples/test_own.py").write_text(TESTS)
    return top


def environment():
    return {**os.environ, "PYTHONPATH": os.pathsep.join(own for own in sys.path if own)}


@with_torch
@pytest.mark.parametrize("platform", ["a5", "a2a3"])
def test_outcomes_are_counted_by_cause(checkout, tmp_path, platform):
    page = tmp_path / "page.md"
    command = [sys.executable, str(SCRIPT), str(checkout), "--part", "system", "--platform", platform, "--verbose", "--page", str(page)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, env=environment(), cwd=tmp_path)
    assert done.returncode == 1, done.stdout + done.stderr
    found = {}
    for line in done.stdout.splitlines():
        outcome, _, rest = line.partition(": examples/test_own.py::")
        if rest:
            found[rest.partition(":")[0].partition("[")[0]] = outcome
    assert found == {name: outcome for name, outcome in WANTED.items() if outcome not in ("passed", "compiled")}
    count = "8: 1 compiled, 1 disagrees, 5 passed, 1 refused."
    assert count in done.stdout and count in page.read_text()
    assert f"## system on {platform}" in page.read_text()


def test_tests_that_do_not_run_are_no_page(checkout, tmp_path):
    command = [sys.executable, str(SCRIPT), str(checkout), "--part", "system", "--platform", "a5"]
    broken = {**environment(), "PYTEST_ADDOPTS": "--no-such-option"}
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, env=broken, cwd=tmp_path)
    assert done.returncode and "the tests did not run" in done.stderr


def script():
    loader = importlib.machinery.SourceFileLoader("public_suite", str(SCRIPT))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("public_suite", loader))
    loader.exec_module(module)
    return module


def test_the_page_is_the_scripts():
    """Its shape: the introduction, parts with their counts, and tables whose numbers add up to those."""
    import re
    import textwrap

    own = script()
    page = (TOP / "docs/public-suite.md").read_text(encoding="utf-8")
    head = "\n".join(["# The public suite", "", *textwrap.wrap(own.INTRODUCTION, 118), ""])
    assert page.startswith(head), "written by hand: scripts/public_suite CHECKOUT --page docs/public-suite.md"
    parts = re.split(r"^## ", page[len(head) :], flags=re.M)[1:]
    assert {part.split(" ", 1)[0].strip() for part in parts} >= {"system"}
    for part in parts:
        count, rest = re.search(r"^(\d+): (.*)\.$", part, re.M).groups()
        each = {outcome: int(number) for number, outcome in (word.split(" ", 1) for word in rest.split(", "))}
        assert sum(each.values()) == int(count), part[:60]
        for outcome in ("refused", *own.WRONG):
            rows = [int(row) for row in re.findall(rf"^\| (\d+) \| {outcome} \|", part, re.M)]
            assert sum(rows) == each.get(outcome, 0), (part[:60], outcome)


@with_torch
def test_a_note_for_each_test(tmp_path):
    """`SLIPRING_SUITE=FILE` takes a line of JSON for each test."""
    test = tmp_path / "test_small.py"
    test.write_text("def test_nothing(test_config):\n    assert test_config.platform == 'a5sim'\n")
    notes = tmp_path / "notes"
    command = [sys.executable, "-m", "pytest", "-q", "-p", "slipring.pypto.suite", "--platform", "a5sim", str(test)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, env={**environment(), "SLIPRING_SUITE": str(notes)})
    assert done.returncode == 0, done.stdout
    (note,) = map(json.loads, notes.read_text().splitlines())
    assert note["outcome"] == "passed" and note["test"].endswith("test_small.py::test_nothing")
