"""`python -m slipring`: the command line, with files executed by Python."""

import json
import subprocess
import sys

import pytest

KERNEL = '''
@pl.incore
def scaled(a: pl.Tensor[[ROWS, 64], pl.FP32], out: pl.Out[pl.Tensor[[ROWS, 64], pl.FP32]]):
    out[:, :] = a[:, :] * FACTOR
'''


def command(*words, **options):
    return subprocess.run([sys.executable, "-m", "slipring", *map(str, words)], capture_output=True, text=True, timeout=120, **options)


def written(folder, text, name="kernel.py"):
    path = folder / name
    path.write_text(text)
    return path


def test_host_code_is_executed(tmp_path):
    written(tmp_path, "import json\nROWS, FACTOR = json.loads('[32, 3.0]')\n", "sizes.py")
    head = "import dataclasses\nimport slipring.language as pl\nfrom sizes import *\nprint('seen')\n@dataclasses.dataclass\nclass C:\n    x: int = 1\n"
    path = written(tmp_path, head + KERNEL)
    done = command("run", path, "--json", "--arg", "a=full:f32[32x64]=2.0", "--arg", "out=zeros:f32[32x64]")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["findings"] == []
    assert "seen" in done.stderr


def test_factories_and_values(tmp_path):
    text = "import slipring.language as pl\nROWS = 16\ndef make(FACTOR):\n" + KERNEL.replace("\n", "\n    ") + "\n    return scaled\n"
    path = written(tmp_path, text)
    without = command("check", path)
    assert without.returncode == 2 and "nothing is given for its `FACTOR`" in without.stderr
    assert command("check", path, "--set", "FACTOR=2.0").returncode == 0
    built = command("build", path, "--set", "FACTOR=2.0", "--set", "ROWS=48")
    assert built.returncode == 0 and "48x64" in built.stdout, built.stdout + built.stderr
    other = command("check", path, "--set", "FACTOR=2.0", "--set", "NOTHING=1")
    assert other.returncode == 2 and "NOTHING" in other.stderr


def test_what_the_file_raises_has_its_line(tmp_path):
    path = written(tmp_path, "import slipring.language as pl\n\nraise ValueError('no tile of 48')\n")
    done = command("check", path)
    assert done.returncode == 2
    assert "error[raise]" in done.stderr and f"{path}:3:1" in done.stderr and "ValueError: no tile of 48" in done.stderr


def test_several_kernels(tmp_path):
    text = "import slipring.language as pl\nROWS, FACTOR = 16, 2.0\n" + KERNEL + KERNEL.replace("scaled", "wrong").replace("FACTOR", "missing")
    path = written(tmp_path, text)
    done = command("check", path)
    assert done.returncode == 2 and "`missing`" in done.stderr
    assert f"{path}:{text.splitlines().index('    out[:, :] = a[:, :] * missing') + 1}:" in done.stderr
    assert command("run", path).returncode == 2
    assert command("run", path, "--func", "scaled").returncode == 0
    unknown = command("run", path, "--func", "nobody")
    assert unknown.returncode == 2 and "`scaled`" in unknown.stderr


@pytest.mark.parametrize("words", [["--version"], ["ops", "pto.tadd"], ["explain", "raise"]])
def test_other_commands_are_the_same(words):
    assert command(*words).returncode == 0


def test_a_library_that_is_not_installed(tmp_path):
    path = written(tmp_path, "import slipring.language as pl\nimport torch\nROWS, FACTOR, KIND = 16, 2.0, torch.float32\n" + KERNEL)
    assert command("check", path).returncode == 0


def test_two_ends_of_a_pipe_are_one_kernel():
    done = command("run", "examples/lang/two_lanes.py", "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["findings"] == []


DECORATED = """
import functools
import slipring.language as pl

ROWS = 16

def counted(function):
    @functools.wraps(function)
    def inner(*values):
        return function(*values) + 1
    return inner

@counted
def one(x):
    return x

FACTOR = float(one(2))
"""


def test_a_decorator_of_the_file_builds_no_kernels(tmp_path):
    done = command("check", written(tmp_path, DECORATED + KERNEL))
    assert done.returncode == 0, done.stdout + done.stderr


ONE_PLATFORM = '''import slipring.language as pl


@pl.incore
def small(a: pl.Tensor[[32, 64], pl.FP8E4M3FN], out: pl.Out[pl.Tensor[[32, 64], pl.FP32]]):
    out[:, :] = pl.cast(a[:, :], pl.FP32)


@pl.incore
def other(a: pl.Tensor[[32, 64], pl.FP32], out: pl.Out[pl.Tensor[[32, 64], pl.FP32]]):
    out[:, :] = {}
'''


def test_a_file_applies_where_all_its_kernels_do(tmp_path):
    """The same words as without Python: each kernel is checked by itself here, and the results are merged."""
    for value, exit_code, said in (("a[:, :] + 1.0", 0, "ok, 2 functions, on a5, not for a2a3 ("), ("pl.nothing(a[:, :])", 2, "1 error")):
        done = command("check", written(tmp_path, ONE_PLATFORM.format(value)))
        assert done.returncode == exit_code and said in done.stdout, done.stdout + done.stderr
