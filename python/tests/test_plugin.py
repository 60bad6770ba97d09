"""The options of the pytest plugin, in a pytest of their own."""

import subprocess
import sys

TESTS = '''
import numpy as np
import slipring.language as pl

@pl.jit
def unread(x: pl.Tensor, out: pl.Out[pl.Tensor]):
    out[:] = pl.add(x[:, :], 1.0)

def test_platform(platform):
    print("platform", platform)

def test_checks():
    x = np.ones((16, 64), np.float32)
    run = unread.run(x, np.zeros_like(x))
    print("tools", [check["tool"] for check in run.checks["tools"]] if isinstance(run.checks, dict) else run.checks)

def test_error():
    unread(np.ones((16, 64), np.float32), np.zeros((8, 64), np.float32))
'''


def call(tmp_path, *options):
    (tmp_path / "test_own.py").write_text(TESTS)
    command = [sys.executable, "-m", "pytest", "-q", "-rP", "-p", "no:cacheprovider", "-p", "slipring.pytest_plugin", *options]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, cwd=tmp_path).stdout


def test_platforms(tmp_path):
    both, one = call(tmp_path, "-k", "platform"), call(tmp_path, "-k", "platform", "--slipring-platform", "a2a3")
    assert "platform a5" in both and "platform a2a3" in both and "2 passed" in both
    assert "platform a5" not in one and "platform a2a3" in one and "1 passed" in one


def test_what_is_checked(tmp_path):
    assert "'race'" in call(tmp_path, "-k", "checks")
    few = call(tmp_path, "-k", "checks", "--slipring-check", "memory")
    assert "1 passed" in few and few != call(tmp_path, "-k", "checks")


def test_an_error_is_the_report(tmp_path):
    said = call(tmp_path, "-k", "error")
    assert "1 failed" in said and "error[" in said and "8" in said
    # The line of the test that called the kernel, the code of the error, and nothing of the package.
    assert ">       unread(np.ones((16, 64), np.float32), np.zeros((8, 64), np.float32))" in said
    assert "slipring.KernelError: error[" in said and "test_own.py:18: KernelError" in said
    assert "_kernel.py" not in said and "_errors.py" not in said
