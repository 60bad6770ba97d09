"""Workers that hold programs of the host, and Python that these call between their tasks."""

import pickle
import subprocess
import sys

import numpy as np
import pytest

import slipring.language as pl
import slipring.language.distributed as pld
from slipring.pypto.distributed import DistributedWorker, _tensor_from_continuous
from slipring.pypto.runtime import DistributedConfig, RunConfig


@pl.program
class Seen:
    @pl.function(type=pl.FunctionType.InCore)
    def twice(self, x: pl.Tensor[[16, 64], pl.FP32], y: pl.Out[pl.Tensor[[16, 64], pl.FP32]]):
        tile = pl.load(x, [0, 0], [16, 64])
        return pl.store(pl.add(tile, tile), [0, 0], y)

    @pl.function(type=pl.FunctionType.Orchestration)
    def chip(self, x: pl.Tensor[[16, 64], pl.FP32], y: pl.Out[pl.Tensor[[16, 64], pl.FP32]]):
        return self.twice(x, y)

    @pl.function(level=pl.Level.HOST, role=pl.Role.SubWorker)
    def seen(x: pl.Tensor[[16, 64], pl.FP32], y: pl.Out[pl.Tensor[[16, 64], pl.FP32]], n: pl.Scalar[pl.INT32]):
        """What it does is given when a worker is prepared."""
        ...

    @pl.function(level=pl.Level.HOST, role=pl.Role.Orchestrator)
    def host(self, x: pl.Tensor[[16, 64], pl.FP32], y: pl.Out[pl.Tensor[[16, 64], pl.FP32]]) -> pl.Tensor[[16, 64], pl.FP32]:
        first = pl.create_tensor([16, 64], dtype=pl.FP32)
        second = pl.create_tensor([16, 64], dtype=pl.FP32)
        first = self.chip(x, first)
        second = self.seen(first, second, 3)
        return self.chip(second, y)


@pl.program
class Checked:
    @pl.function(type=pl.FunctionType.InCore)
    def twice(self, x: pl.Tensor[[16, 64], pl.FP32], y: pl.Out[pl.Tensor[[16, 64], pl.FP32]]):
        tile = pl.load(x, [0, 0], [16, 64])
        return pl.store(pl.add(tile, tile), [0, 0], y)

    @pl.function(level=pl.Level.HOST, role=pl.Role.SubWorker)
    def small(y: pl.Tensor[[16, 64], pl.FP32]):
        if float(y.max()) > 10:
            raise OverflowError(f"too large: {float(y.max())}")

    @pl.function(level=pl.Level.HOST, role=pl.Role.Orchestrator)
    def host(self, x: pl.Tensor[[16, 64], pl.FP32], y: pl.Out[pl.Tensor[[16, 64], pl.FP32]]) -> pl.Tensor[[16, 64], pl.FP32]:
        y = self.twice(x, y)
        self.small(y)
        return y


def compiled(program, devices=(0,)):
    lowered = program.lower()
    return lowered.compile("a5sim", "a5", DistributedConfig(device_ids=list(devices)))


def arrays(number):
    return np.full((16, 64), number, np.float32), np.zeros((16, 64), np.float32)


def test_callbacks_read_and_write():
    assert Seen.get_function("seen").requires_runtime_binding and not Checked.get_function("small").requires_runtime_binding
    program, found = compiled(Seen), []

    def seen(args):
        x, y, n = args
        assert (x.shape, x.dtype, n) == ((16, 64), np.float32, 3)
        found.append(float(_tensor_from_continuous(x)[0, 0]))
        _tensor_from_continuous(y)[:] = _tensor_from_continuous(x) + n

    x, y = arrays(2)
    with program.prepare(callbacks={"seen": seen}) as worker:
        for step in range(3):
            x[:] = step
            worker(x, y)
            assert (y == 4 * step + 6).all()
        assert found == [0, 2, 4]
        handle = worker.submit(program, x, y)
        assert handle.done and handle.result() is None and len(found) == 4
    with pytest.raises(RuntimeError, match="closed"):
        worker(x, y)


def test_the_meaning_calls_nothing_twice():
    calls = []

    def seen(args):
        calls.append(1)
        args[1].tensor()[:] = args[0].tensor()

    x, y = arrays(1)
    from slipring._host import bind_host

    program = compiled(Seen)
    run = program.run(x, y, verify=True, host=bind_host(program.host_functions, {"seen": seen}))
    assert run.verdict == "clean" and calls == [1] and (y == 4).all()
    assert [check["verdict"] for check in run.checks if check["tool"] == "verify"] == ["clean"]


def test_what_is_not_given_is_said_when_a_worker_is_prepared():
    program = compiled(Seen)
    with pytest.raises(ValueError, match="nothing is given for `seen`"):
        program.prepare()
    with pytest.raises(ValueError, match="not sub-workers"):
        program.prepare(callbacks={"seen": print, "sean": print})
    with pytest.raises(TypeError, match="one argument"):
        program.prepare(callbacks={"seen": lambda x, y, n: None})
    with pytest.raises(ValueError, match="nothing is given for `seen`"):
        program(*arrays(1))


def test_functions_with_a_body_run_and_what_they_raise_is_raised():
    program = compiled(Checked)
    x, y = arrays(3)
    program(x, y)
    assert (y == 6).all()
    # Without the outputs they are made.
    assert (program(x) == 6).all()
    x[:] = 6
    with pytest.raises(OverflowError, match="too large: 12"):
        program(x, y)
    assert (y == 6).all()
    with program.prepare() as worker:
        handle = worker.submit(program, x, y)
        with pytest.raises(OverflowError):
            handle.result()
    replaced = []
    with program.prepare(callbacks={"small": replaced.append}) as worker:
        worker(x, y)
    assert len(replaced) == 1 and (y == 12).all()


@pl.jit.incore
def written(x: pl.Tensor, kept: pl.Out[pl.Tensor]):
    tile = pl.load(x, [0, 0], [16, 64])
    return pl.store(pl.add(tile, tile), [0, 0], kept)


@pl.jit
def write_chip(x: pl.Tensor, kept: pl.Out[pl.Tensor]):
    return written(x, kept)


@pl.jit.host
def write(x: pl.Tensor, kept: pl.Out[pl.Tensor]):
    return write_chip(x, kept)


@pl.jit.incore
def added(x: pl.Tensor, kept: pl.Tensor, y: pl.Out[pl.Tensor]):
    return pl.store(pl.add(pl.load(x, [0, 0], [16, 64]), pl.load(kept, [0, 0], [16, 64])), [0, 0], y)


@pl.jit
def add_chip(x: pl.Tensor, kept: pl.Tensor, y: pl.Out[pl.Tensor]):
    return added(x, kept, y)


@pl.jit.host
def add(x: pl.Tensor, kept: pl.Tensor, y: pl.Out[pl.Tensor]):
    return add_chip(x, kept, y)


def test_several_programs_share_what_stays_on_the_device():
    config = RunConfig(platform="a2a3", distributed_config=DistributedConfig(device_ids=[0]))
    (x, y), sample = arrays(2), np.zeros((16, 64), np.float32)
    first, second = write.compile(x, sample, config=config), add.compile(x, sample, y, config=config)
    with first.prepare(extra_compiled=[second]) as worker:
        kept = worker.alloc_tensor((16, 64), np.float32)
        worker.run(first, x, kept)
        for step in range(2):
            x[:] = step
            worker.run(second, x, kept, y)
            assert (y == step + 4).all()
        with pytest.raises(TypeError, match="several programs"):
            worker(x, kept)
        with pytest.raises(TypeError, match="takes 3 arguments"):
            worker.run(second, x, kept)
        worker.free_tensor(kept)
        with pytest.raises(ValueError, match="freed"):
            worker.run(second, x, kept, y)
    with pytest.raises(ValueError, match="not prepared"):
        DistributedWorker(first).run(second, x, sample, y)
    other = RunConfig(platform="a5", distributed_config=DistributedConfig(device_ids=[0]))
    with pytest.raises(ValueError, match="compiled for a5"):
        DistributedWorker([first, write.compile(x, sample, config=other)])


@pl.jit.incore
def doubled(x: pl.Tensor[[16, 64], pl.FP32], y: pl.Out[pl.Tensor[[16, 64], pl.FP32]]):
    tile = pl.load(x, [0, 0], [16, 64])
    return pl.store(pl.add(tile, tile), [0, 0], y)


@pl.jit
def on_one(x: pl.Tensor[[16, 64], pl.FP32], y: pl.Out[pl.Tensor[[16, 64], pl.FP32]]):
    return doubled(x, y)


@pl.jit.host
def on_each(x: pl.Tensor[[2, 16, 64], pl.FP32], y: pl.Out[pl.Tensor[[2, 16, 64], pl.FP32]]):
    for r in pl.range(2):
        on_one(x[r], y[r], device=r)
    return y


def test_parts_stay_on_their_devices():
    program = on_each.compile(config=RunConfig(platform="a5", distributed_config=DistributedConfig(device_ids=[0, 1])))
    x, y = np.arange(2 * 16 * 64, dtype=np.float32).reshape(2, 16, 64), np.zeros((2, 16, 64), np.float32)
    with program.prepare() as worker:
        stacked, out = worker.alloc_stacked_tensor(x), worker.alloc_stacked_tensor(y)
        assert stacked.shape == (2, 16, 64) and stacked[1].shape == stacked[1, ...].shape == (16, 64)
        worker(stacked, out)
        worker.copy_stacked_from(out, y)
        assert np.array_equal(y, 2 * x)
        for wrong, error in [((1, slice(0, 8)), ValueError), (2, IndexError), ("a", TypeError)]:
            with pytest.raises(error):
                stacked[wrong]
        with pytest.raises(ValueError, match="2 parts"):
            worker.alloc_stacked_tensor(x, worker_ids=[0, 2])
        worker.free_stacked_tensor(stacked)
        with pytest.raises(ValueError, match="freed"):
            worker(stacked, out)


@pl.jit.incore
def count(
    n: pl.Tensor[[1, 1], pl.INT32],
    y: pl.Out[pl.Tensor[[1, 1], pl.INT32]],
    signal: pld.DistributedTensor[[1, 1], pl.INT32],
    peer: pl.Scalar[pl.INT32],
    least: pl.Scalar[pl.INT32],
):
    pld.system.notify(signal, peer=peer, offsets=[0, 0], value=1, op=pld.NotifyOp.AtomicAdd)
    pld.system.wait(signal, offsets=[0, 0], expected=pl.read(n, [0, 0]) * least, cmp=pld.WaitCmp.Ge)
    pl.write(y, [0, 0], pl.read(signal, [0, 0]))
    return y


@pl.jit
def count_on(
    n: pl.Tensor[[1, 1], pl.INT32],
    y: pl.Out[pl.Tensor[[1, 1], pl.INT32]],
    signal: pld.DistributedTensor[[1, 1], pl.INT32],
    peer: pl.Scalar[pl.INT32],
    least: pl.Scalar[pl.INT32],
):
    return count(n, y, signal, peer, least)


@pl.jit.host
def counted(n: pl.Tensor[[1, 1], pl.INT32], y: pl.Out[pl.Tensor[[2, 1, 1], pl.INT32]], least: pl.Scalar[pl.INT32]):
    buffer = pld.alloc_window_buffer([1, 1], dtype=pl.INT32)
    for r in pl.range(2):
        count_on(n, y[r], pld.window(buffer, [1, 1], dtype=pl.INT32), 1 - r, least, device=r)
    return y


def test_windows_keep_what_is_in_them_where_that_is_asked_for():
    n, y = np.ones((1, 1), np.int32), np.zeros((2, 1, 1), np.int32)
    program = counted.compile(n, y, 1, config=RunConfig(platform="a5", distributed_config=DistributedConfig(device_ids=[0, 1])))
    seen = {}
    for options in ({}, {"persistent": True}, {"persistent": True, "reset_persistent_windows": False}):
        with program.prepare(**options) as worker:
            for turn in range(1, 4):
                n[:] = turn if len(options) == 2 else 1
                worker(n, y, 1)
                seen.setdefault(len(options), []).append(y.ravel().tolist())
    assert seen == {0: [[1, 1]] * 3, 1: [[1, 1]] * 3, 2: [[1, 1], [2, 2], [3, 3]]}
    n[:] = 1
    first = program.run(n, y, 1)
    n[:] = 2
    second = program.run(n, y, 1, windows=first.windows)
    assert y.ravel().tolist() == [2, 2] and [len(own) for own in second.windows] == [len(own) for own in first.windows]
    assert pickle.loads(pickle.dumps(second)).windows == second.windows
    for wrong, why in ((first.windows * 2, "contents of 2 are given"), ([b"1"], "and 1 are given")):
        with pytest.raises(TypeError, match=why):
            program.run(n, y, 1, windows=wrong)
    with pytest.raises(TypeError, match="whole programs"):
        alone.run(np.zeros((16, 64), np.float32), np.zeros((16, 64), np.float32), windows=[])


def test_a_program_of_devices_takes_the_numbers_that_it_is_called_with():
    n, y = np.ones((1, 1), np.int32), np.zeros((2, 1, 1), np.int32)
    assert counted.run(n, y, 1, platform="a5").verdict == "clean" and y.ravel().tolist() == [1, 1]
    assert [finding["code"] for finding in counted.run(n, y, 2, platform="a5").findings][:1] == ["deadlock"]


@pl.jit
def alone(x: pl.Tensor[[16, 64], pl.FP32], y: pl.Out[pl.Tensor[[16, 64], pl.FP32]]):
    y[:, :] = x[:, :]


def test_configurations_that_no_device_has():
    for wrong in [{"device_ids": []}, {"device_ids": [0, 0]}, {"device_ids": [-1]}, {"num_sub_workers": -1}, {"aicpu_thread_num": 1}]:
        with pytest.raises(ValueError):
            DistributedConfig(**wrong)
    assert DistributedConfig().device_ids == [0]


SCRIPT = """
import numpy as np
import pypto.language as pl
from pypto import ir
from pypto.ir.distributed_compiled_program import DistributedCompiledProgram, DistributedConfig
from pypto.ir.pass_manager import OptimizationStrategy
from pypto.runtime import DistributedWorker, StackedDeviceTensor, run
from pypto.runtime.distributed_runner import _tensor_from_continuous


@pl.program
class Twice:
    @pl.function(type=pl.FunctionType.InCore)
    def twice(self, x: pl.Tensor[[16, 64], pl.FP32], y: pl.Out[pl.Tensor[[16, 64], pl.FP32]]):
        tile = pl.load(x, [0, 0], [16, 64])
        return pl.store(pl.add(tile, tile), [0, 0], y)

    @pl.function(level=pl.Level.HOST, role=pl.Role.Orchestrator)
    def host(self, x: pl.Tensor[[16, 64], pl.FP32], y: pl.Out[pl.Tensor[[16, 64], pl.FP32]]):
        return self.twice(x, y)


compiled = ir.compile(Twice, platform="a5sim", strategy=OptimizationStrategy.Default, distributed_config=DistributedConfig([0]))
assert isinstance(compiled, DistributedCompiledProgram)
x, y = np.ones((16, 64), np.float32), np.zeros((16, 64), np.float32)
with DistributedWorker(compiled) as worker:
    worker(x, y)
print(y.sum())
print(run(Twice, x, y).platform)
"""


def test_a_script(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    done = subprocess.run([sys.executable, "-m", "slipring.pypto", str(script)], capture_output=True, text=True, timeout=120)
    assert (done.stdout, done.stderr) == ("2048.0\na2a3sim\n", "")
