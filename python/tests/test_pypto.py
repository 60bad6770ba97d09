"""Scripts that import the public modules run unchanged."""

import os
import subprocess
import sys

SCRIPT = """
import sys
import numpy as np
import pypto.language as pl
from pypto.runtime import RunConfig


@pl.jit
def added(a: pl.Tensor, b: pl.Tensor, c: pl.Out[pl.Tensor]):
    with pl.at(level=pl.Level.CORE_GROUP):
        tile = pl.add(pl.load(a, [0, 0], [32, 64]), pl.load(b, [0, 0], [32, 64]))
        pl.store(tile, [0, 0], c)
    return c


a, b, c = np.full((32, 64), 2, np.float32), np.full((32, 64), 3, np.float32), np.zeros((32, 64), np.float32)
back = added(a, b, c, config=RunConfig(platform=sys.argv[1]))
assert back is c and (c == 5).all()
print("OK", sys.argv[1])
"""


def call(tmp_path, *arguments):
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    command = [sys.executable, "-m", "slipring.pypto", str(script), *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=120)


def test_a_script(tmp_path):
    for platform in ["a2a3sim", "a5sim"]:
        assert call(tmp_path, platform).stdout == f"OK {platform}\n"


def test_an_unknown_platform(tmp_path):
    assert "no platform `a7`" in call(tmp_path, "a7").stderr


def test_nothing_is_installed_unasked():
    code = "import slipring.language, sys; assert 'pypto' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)


WORKER = """
import sys
import numpy as np
import pypto.language as pl
from pypto import ir
from pypto.backend import BackendType, reset_for_testing, set_backend_type
from pypto.backend.pto_backend import PartialCodegenError
from pypto.ir import PassDumpLevel
from pypto.runtime import ChipWorker, RunConfig, benchmark

N = pl.dynamic("N")


@pl.jit
def added(a: pl.Tensor[[N, 64], pl.FP32], b: pl.Tensor[[N, 64], pl.FP32], c: pl.Out[pl.Tensor[[N, 64], pl.FP32]]):
    with pl.at(level=pl.Level.CORE_GROUP):
        tile = pl.add(pl.load(a, [0, 0], [32, 64]), pl.load(b, [0, 0], [32, 64]))
        pl.store(tile, [0, 0], c)
    return c


a, b, c = np.full((32, 64), 2, np.float32), np.full((32, 64), 3, np.float32), np.zeros((32, 64), np.float32)
lowered = added.lower(a, b, c)
assert list(lowered.functions) == ["added"] and "def added" in lowered.as_python()
compiled = ir.compile(lowered, platform="a5sim", dump_passes=PassDumpLevel.NONE)
assert compiled.platform == "a5sim" and compiled.param_names == ["a", "b", "c"] and compiled.output_indices == [2]
assert compiled.has_return and "pto.tadd" in (compiled.output_dir / "added.pto").read_text()
with ChipWorker(config=RunConfig(platform="a5sim")) as worker:
    before = worker.aicpu_dlopen_count
    resident = worker.alloc_tensor((32, 64), np.float32, init=b)
    handle = worker.register(compiled)
    for step in range(3):
        a[:] = step
        handle(a, resident, c)
        assert (c == step + 3).all()
    assert worker.aicpu_dlopen_count == before + 1
    sums = worker.alloc_tensor([32, 64], np.float32)
    worker.run(compiled, a, resident, sums)
    c[:] = 0
    worker.copy_from(c.ctypes.data, sums.data_ptr, sums.nbytes)
    assert (c == 5).all()
    worker.free_tensor(sums)
    for wrong in [lambda: worker.free_tensor(sums), lambda: worker.copy_from(c.ctypes.data, 64, 4)]:
        try:
            wrong()
        except ValueError as error:
            print(error)
try:
    worker.run(compiled, a, b, c)
except RuntimeError as error:
    print(error)
try:
    ChipWorker(config=RunConfig(platform="a2a3")).run(compiled, a, b, c)
except ValueError as error:
    print(error)
stats = benchmark(compiled, [a, b, c], rounds=3, warmup=1)
assert stats.device_wall_us_median == stats.device_wall_us_min > 0
set_backend_type(BackendType.Ascend950)
assert RunConfig().platform == "a5sim"
reset_for_testing()
assert RunConfig().platform == "a2a3sim"

function = pl.parse("@pl.function\\ndef f(x: pl.Tensor[[16, 64], pl.FP32]) -> pl.Tensor[[16, 64], pl.FP32]:\\n    return pl.add(x, 1.0)\\n")
again = ir.deserialize(ir.serialize(function))
assert function.name == again.name == "f" and len(again.params) == len(again.return_types) == 1
try:
    pl.parse("x = 1")
except ValueError as error:
    print(error)


@pl.jit
def lost(x: pl.Tensor, y: pl.Out[pl.Tensor]):
    with pl.at(level=pl.Level.CORE_GROUP):
        y = pl.mul(x, 2.0)
    return y


try:
    lost(a, c, config=RunConfig())
except PartialCodegenError as error:
    print("output-lost" in str(error))
"""

SAID = """\
the tensor has been freed
4 bytes at 0x40 are in no tensor of the device
the worker is closed: `register` was called after close
the program is compiled for a5sim, the worker is a2a3
the text has no function; pl.parse takes one with the decorator @pl.function
True
"""


def test_workers_programs_and_texts(tmp_path):
    script = tmp_path / "worker.py"
    script.write_text(WORKER)
    command = [sys.executable, "-m", "slipring.pypto", str(script)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert (done.stdout, done.stderr) == (SAID, "")


def test_the_default_platform(tmp_path):
    script = tmp_path / "asks.py"
    script.write_text("from pypto.runtime import RunConfig\nprint(RunConfig().platform)\n")
    command = [sys.executable, "-m", "slipring.pypto", "--platform", "a5", str(script)]
    assert subprocess.run(command, capture_output=True, text=True, timeout=120).stdout == "a5\n"
    command[4] = "a9"
    assert "platforms: a2a3" in subprocess.run(command, capture_output=True, text=True, timeout=120).stderr


SERIALIZED = """
import numpy as np
import pypto.language as pl
from pypto import ir


@pl.program
class Twice:
    @pl.function(type=pl.FunctionType.InCore)
    def add(self, a: pl.Tensor[[16, 64], pl.FP32], out: pl.Out[pl.Tensor[[16, 64], pl.FP32]]):
        t = pl.load(a, [0, 0], [16, 64])
        return pl.store(pl.add(t, t), [0, 0], out)

    @pl.function(type=pl.FunctionType.Orchestration)
    def entry(self, a: pl.Tensor[[16, 64], pl.FP32], out: pl.Out[pl.Tensor[[16, 64], pl.FP32]]):
        out = self.add(a, out)
        return out


read = ir.deserialize(ir.serialize(Twice))
assert read.name == "Twice" and list(read.functions) == ["add", "entry"]
a, out = np.arange(16 * 64, dtype=np.float32).reshape(16, 64), np.zeros((16, 64), np.float32)
assert read.entry(a, out) is out and (out == 2 * a).all()
"""


def test_a_program_is_serialized(tmp_path):
    script = tmp_path / "serialized.py"
    script.write_text(SERIALIZED)
    done = subprocess.run([sys.executable, "-m", "slipring.pypto", str(script)], capture_output=True, text=True, timeout=120)
    assert (done.stdout, done.stderr) == ("", "")


OUTLINED = """
import numpy as np
import pypto.language as pl
from pypto.debug import torch_codegen

FACTOR = 3.0


@pl.jit
def scale(a: pl.Tensor, out: pl.Out[pl.Tensor]):
    with pl.at(level=pl.Level.CORE_GROUP):
        out[:] = pl.mul(a, FACTOR)
    return out


a, out = np.arange(16 * 64, dtype=np.float32).reshape(16, 64), np.zeros((16, 64), np.float32)
program = scale.lower(a, out)
text = program.as_python()
assert "@pl.program" in text and "def scale_incore_0(" in text and "pl.at" not in text
assert program.as_python(concise=True) == text
open("again.py", "w").write(text)
from again import scale_program
scale_program.scale(a, out)
assert (out == 3 * a).all()
assert scale.compile(a, out).program.as_python() == text
"""


def test_a_lowered_program_as_text(tmp_path):
    script = tmp_path / "outlined.py"
    script.write_text(OUTLINED)
    command = [sys.executable, "-m", "slipring.pypto", str(script)]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path), *filter(None, [os.environ.get("PYTHONPATH")])])}
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, cwd=tmp_path, env=environment)
    assert (done.stdout, done.stderr) == ("", "")


MEANING = """
import numpy as np
import pypto.language as pl
from pypto.debug import torch_codegen


@pl.jit
def fused(a: pl.Tensor[[16, 64], pl.FP32], b: pl.Tensor[[16, 64], pl.FP32], out: pl.Out[pl.Tensor[[16, 64], pl.FP32]]):
    with pl.at(level=pl.Level.CORE_GROUP):
        out[:] = pl.mul(pl.add(a[:, :], b[:, :]), 2.0)
    return out


a, b, out = np.ones((16, 64), np.float32), np.full((16, 64), 2, np.float32), np.zeros((16, 64), np.float32)
text = torch_codegen(fused.lower(a, b, out), check_shapes=True)
assert "def fused(" in text and "import torch" in text
names = {}
exec(text.replace("import torch", "import types; torch = types.SimpleNamespace(Tensor=())"), names)
names["fused"](a, b, out)
assert (out == 6).all()
"""


def test_the_meaning_as_python(tmp_path):
    script = tmp_path / "meaning.py"
    script.write_text(MEANING)
    done = subprocess.run([sys.executable, "-m", "slipring.pypto", str(script)], capture_output=True, text=True, timeout=120)
    assert (done.stdout, done.stderr) == ("", "")


NAMES = """
import pypto
import pypto.language as pl
from pypto import ir
from pypto.runtime import BenchmarkStats, RunConfig, RunResult, ScalarSpec, TensorSpec, Worker, ChipWorker, benchmark
import numpy as np

assert pypto.DT_FP32 == pypto.DataType.FP32 == pl.FP32 and pypto.DT_INT8 == pl.INT8
saved = pypto.get_log_level()
assert saved == pypto.LogLevel.INFO
pypto.log_info("shown")
pypto.log_debug("not shown")
pypto.set_log_level(pypto.LogLevel.NONE)
pypto.log_event("not shown either")
pypto.set_log_level(saved)
for raised, condition in ((ValueError, pypto.check), (pypto.InternalError, pypto.internal_check)):
    condition(True, "holds")
    try:
        condition(1 > 2, "one is less")
    except raised as error:
        assert str(error) == "one is less"
    else:
        raise SystemExit("nothing was raised")


@pl.program
class Twice:
    @pl.function(type=pl.FunctionType.InCore)
    def twice(self, x: pl.Tensor[[16, 64], pl.FP32], out: pl.Out[pl.Tensor[[16, 64], pl.FP32]]):
        return pl.store(pl.add(pl.load(x, [0, 0], [16, 64]), pl.load(x, [0, 0], [16, 64])), [0, 0], out)

    @pl.function(type=pl.FunctionType.Orchestration)
    def main(self, x: pl.Tensor[[16, 64], pl.FP32], out: pl.Out[pl.Tensor[[16, 64], pl.FP32]]):
        return self.twice(x, out)


again = pl.parse_program(ir.python_print(Twice))
x, out = np.full((16, 64), 3, np.float32), np.zeros((16, 64), np.float32)
again.main(x, out)
assert (out == 6).all()
compiled = ir.compile(again, platform="a5sim")
assert isinstance(compiled, ir.CompiledProgram) and issubclass(ChipWorker, Worker)
stats = benchmark(compiled, (x, out), rounds=3, warmup=1)
assert isinstance(stats, BenchmarkStats) and stats.rounds == len(stats.samples) == len(stats.per_round("host")) == 3
assert stats.device_us_median == stats.device_wall_us_max > 0 and stats.device_us_stdev == 0 and not stats.all_zero_device
for wrong in (lambda: stats.per_round("union"), lambda: Worker(), lambda: ir.python_print(3), lambda: pypto.log_info(3)):
    try:
        wrong()
    except (TypeError, ValueError) as error:
        print(error)
    else:
        raise SystemExit("nothing was raised")
"""


def test_names_that_public_scripts_import(tmp_path):
    script = tmp_path / "names.py"
    script.write_text(NAMES)
    done = subprocess.run([sys.executable, "-m", "slipring.pypto", str(script)], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert done.stderr == "info: shown\n"
    assert done.stdout.splitlines() == [
        "per_round takes \"device\" or \"host\", not 'union': slipring measures nothing else",
        "a Worker is a ChipWorker or a DistributedWorker",
        "python_print takes a function or a program, not int",
        "log_info takes a string, not int",
    ]


HARNESS = """
import ctypes
import numpy as np
import pypto.language as pl
from pypto.ir import ParamDirection
from pypto.runtime import RunConfig, execute_compiled
from pypto.runtime.runner import _DfxOpts


@pl.jit
def scaled(a: pl.Tensor[[32, 64], pl.FP32], n: pl.Scalar[pl.FP32], c: pl.Out[pl.Tensor[[32, 64], pl.FP32]]):
    with pl.at(level=pl.Level.CORE_GROUP):
        c[:, :] = pl.mul(a, n)


a, c = np.full((32, 64), 2, np.float32), np.zeros((32, 64), np.float32)
compiled = scaled.compile(a, 1.5, c, config=RunConfig(platform="a5sim"))
execute_compiled(compiled.output_dir, [a, ctypes.c_float(2.5), c], platform="a5sim", device_id=0, dfx=_DfxOpts())
assert (c == 5).all()
for folder, arguments, platform, error in (
    ("nowhere", [a, 1.0, c], "a5sim", ValueError),
    (compiled.output_dir, [a, c], "a5sim", TypeError),
    (compiled.output_dir, [a, 1.0, c], "a2a3sim", ValueError),
):
    try:
        execute_compiled(folder, arguments, platform=platform, device_id=0)
    except error as why:
        print(str(why).replace(str(compiled.output_dir), "FOLDER"))


@pl.jit.host
def host(a: pl.Tensor[[32, 64], pl.FP32], c: pl.Out[pl.Tensor[[32, 64], pl.FP32]]):
    scaled(a, 2.0, c, device=0)


made = host.compile(a, c, config=RunConfig(platform="a5sim"))
infos, outputs, _ = made._get_metadata()
assert [(info.name, info.direction, list(info.shape)) for info in infos] == [
    ("a", ParamDirection.In, [32, 64]),
    ("c", ParamDirection.Out, [32, 64]),
]
assert outputs == [1]
"""


def test_harness(tmp_path):
    script = tmp_path / "harness.py"
    script.write_text(HARNESS)
    command = [sys.executable, "-m", "slipring.pypto", str(script)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [
        "nowhere is the folder of nothing that this process compiled and still has",
        "`scaled` takes 3 arguments (a, n, c), 2 given",
        "`scaled` is compiled for a5sim, not for a2a3sim",
    ]
