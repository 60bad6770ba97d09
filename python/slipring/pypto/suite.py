"""A pytest plugin that runs the public system tests: `pytest -p slipring.pypto.suite`, in place of their own
`conftest.py`.

Provides their fixtures, runs their test cases on the simulated device, and classifies each test, with the cause: it
passed, it disagreed (a value, or anything else that the test asserts, differs) or it was refused (slipring reports that
something is unsupported). `SLIPRING_SUITE=FILE` writes one line of JSON per test.
"""

import json
import os
import re

import pytest

from . import PLATFORMS, install
from .runner import RunConfig, RunResult

install()

# Exceptions that count as a refusal if there is no diagnostic code.
REFUSED = (NotImplementedError, ImportError, AttributeError, TypeError, ValueError)


def _value(spec):
    """The initial contents of a tensor of a test case."""
    import torch

    dtype = getattr(spec.dtype, "torch_dtype", spec.dtype)
    value = spec.init_value
    if value is None:
        return torch.zeros(spec.shape, dtype=dtype)
    if isinstance(value, (int, float, bool)):
        return torch.full(spec.shape, value, dtype=dtype)
    if not isinstance(value, torch.Tensor):
        factories = (torch.randn, torch.rand, torch.zeros, torch.ones)
        value = value(spec.shape) if value in factories else value()
    return torch.as_tensor(value).to(dtype).reshape(spec.shape).clone()


class TestRunner:
    """Runs test cases: compiles their programs, runs them, and compares the outputs with the expected ones."""

    __test__ = False

    def __init__(self, config=None):
        self.config = config or RunConfig()

    def run(self, case):
        """Runs a test case. A refusal raises; a wrong value is a failed result."""
        import torch

        from . import ir

        platform = case.get_platform() or self.config.platform
        compiled = ir.compile(case.get_program(), platform=platform)
        tensors = {spec.name: _value(spec) for spec in case.tensor_specs}
        expected = {name: tensor.clone() for name, tensor in tensors.items()}
        case.compute_expected(expected)
        compiled(*tensors.values(), *(spec.value for spec in case.define_scalars()))
        for spec in case.tensor_specs:
            if not spec.is_output:
                continue
            got, wanted = tensors[spec.name], expected[spec.name].to(tensors[spec.name].dtype)
            same = torch.allclose(
                got.to(torch.float64), wanted.to(torch.float64), rtol=case.config.rtol, atol=case.config.atol, equal_nan=True
            )
            if not same:
                off = (got.to(torch.float64) - wanted.to(torch.float64)).abs()
                return RunResult(False, case.get_name(), f"`{spec.name}` is another one: up to {off.max().item()} away")
        return RunResult(True, case.get_name())


def pytest_addoption(parser):
    """The options of the public tests that have an effect here."""
    parser.addoption("--platform", default="a2a3sim")


def pytest_configure(config):
    """Registers the markers of the public tests."""
    for mark in ("platforms(*ids)", "hardware", "slow", "a5", "a2a3", "codegen_only", "needs_device"):
        config.addinivalue_line("markers", f"{mark}: a mark of the public tests")
    install(config.getoption("--platform"))


def pytest_collection_modifyitems(config, items):
    """Keeps only the tests for the requested platform, of those that name one."""
    own = PLATFORMS[config.getoption("--platform")]
    kept, others = [], []
    for item in items:
        named = getattr(item, "callspec", None) and item.callspec.params.get("platform")
        marks = [PLATFORMS.get(name) for mark in item.iter_markers("platforms") for name in mark.args]
        fits = named in (None, f"{own}sim") if named in (None, *PLATFORMS) else True
        (kept if fits and (not marks or own in marks) else others).append(item)
    items[:] = kept
    config.hook.pytest_deselected(items=others)


@pytest.fixture(scope="session")
def test_config(request):
    """The configuration of a run."""
    return RunConfig(platform=request.config.getoption("--platform"), rtol=1e-5, atol=1e-5)


@pytest.fixture(scope="session")
def device_ids():
    """The maximum number of devices that the tests request."""
    return list(range(8))


@pytest.fixture(scope="session")
def test_runner(test_config):
    """The runner of test cases."""
    return TestRunner(test_config)


@pytest.fixture(autouse=True)
def _own_folder(tmp_path, monkeypatch):
    monkeypatch.setenv("PYPTO_PROG_BUILD_DIR", str(tmp_path / "built"))


def _cause(error):
    """The kind of an outcome, and its message."""
    from .._slipring import KernelError

    if isinstance(error, KernelError):
        first = next((own for own in getattr(error, "findings", []) if own["severity"] == "error"), None)
        if first is not None:
            return "refused", f"[{first['code']}] {first['message']}"
        return "refused", str(error).splitlines()[0]
    said = (str(error).strip().splitlines() or [""])[0]
    words = f"{type(error).__name__}: {said}"
    if isinstance(error, AssertionError) and (kept := re.search(r"KernelError\(['\"]error(\[[\w-]+\]: .*?)\\n", said)):
        # The test caught the refusal, and then failed because a result is missing.
        return "refused", kept.group(1)
    if isinstance(error, AssertionError):
        return "disagrees", words
    return ("refused" if isinstance(error, REFUSED) else "disagrees"), words


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    """Records the outcome of a test."""
    outcome = yield
    report = outcome.get_result()
    if report.when == "call" or report.outcome != "passed":
        kind, why = ("passed", "") if report.outcome == "passed" else ("skipped", str(report.longrepr)[-200:])
        if report.outcome == "failed":
            kind, why = _cause(call.excinfo.value)
        _note(item.nodeid, kind, why)


def pytest_collectreport(report):
    """Records import errors."""
    if report.failed:
        lines = [line for line in str(report.longrepr).splitlines() if line.startswith("E ")]
        _note(report.nodeid, "refused", (lines or [str(report.longrepr)])[0].removeprefix("E").strip())


def _note(name, kind, why):
    if file := os.environ.get("SLIPRING_SUITE"):
        with open(file, "a", encoding="utf-8") as out:
            out.write(json.dumps({"test": name, "outcome": kind, "why": why}) + "\n")


__all__ = ["TestRunner"]
