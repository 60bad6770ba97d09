"""Every option that is taken has an effect, or says that it has none; what it does not take is refused by its name."""

import inspect
import os
import subprocess
import sys
import warnings

import numpy as np
import pytest
import slipring
import slipring.language as pl
from slipring import _runs
from slipring.pypto import _options, ir, runtime
from slipring.pypto.backend import BackendType
from slipring.pypto.distributed import DistributedWorker, OptimizationStrategy

X = np.ones((32, 64), np.float32)


@pl.jit
def doubled(x: pl.Tensor, out: pl.Out[pl.Tensor]):
    for i in pl.range(0, 32, 8):
        out[i : i + 8, :] = x[i : i + 8, :] * 2.0
    pl.print(x[0:1, 0:8])


@pl.jit
def by_blocks(x: pl.Tensor, out: pl.Out[pl.Tensor]):
    i = pl.get_block_idx() * 8
    out[i : i + 8, :] = x[i : i + 8, :]


@pl.jit
def behind(x: pl.Tensor, n: pl.Scalar[pl.INT32], out: pl.Out[pl.Tensor]):
    for i in pl.range(n):
        out[i : i + 1, :] = x[i : i + 1, :]


@pl.jit
def in_part(x: pl.Tensor, n: pl.Scalar[pl.INT32], out: pl.Out[pl.Tensor], copy: pl.Out[pl.Tensor]):
    for i in pl.range(n):
        out[i : i + 1, :] = x[i : i + 1, :]
    copy[:, :] = out[:, :]


@pl.jit
def two_tasks(x: pl.Tensor, out: pl.Out[pl.Tensor]):
    with pl.at(level=pl.Level.CORE_GROUP):
        out[0:16, :] = x[0:16, :]
    with pl.at(level=pl.Level.CORE_GROUP):
        out[16:32, :] = x[16:32, :]


def run(kernel, *args, **options):
    return kernel.run(*(np.copy(arg) if isinstance(arg, np.ndarray) else arg for arg in args), **options)


def codes(run):
    return [finding["code"] for finding in run.findings]


# What shows that an option of a run counts.
EFFECTS = {
    "assume": lambda: "assumption" in codes(run(behind, X, 4, X, assume="n < 4")),
    "blocks": lambda: run(by_blocks, X, X, blocks=4).facts["blocks"] == 4,
    "check": lambda: "not checked" in str(run(doubled, X, X, check="none").checks),
    "clusters": lambda: run(two_tasks, X, X, clusters=1).text() != run(two_tasks, X, X).text(),
    "delays": lambda: run(doubled, X, X, device="p150", delays=1).cycles != run(doubled, X, X, device="p150").cycles,
    "device": lambda: run(doubled, X, X, device="p100").facts["device"] == "p100",
    "devices": lambda: pytest.raises(ValueError, run, two_tasks, X, X, devices=0) or True,
    "events": lambda: (len(run(doubled, X, X, events=3).timeline), run(doubled, X, X, events=0).timeline) == (3, []),
    "gm_slack": lambda: ("memory-bounds" in codes(run(behind, X, 33, X)), codes(run(behind, X, 33, X, gm_slack=4096))) == (True, []),
    "launches": lambda: run(doubled, X, X, launches=2).verdict == "clean",
    "max_cycles": lambda: not run(doubled, X, X, max_cycles=10).complete,
    "max_memory": lambda: "memory-limit" in codes(run(doubled, X, X, max_memory=10)),
    "max_output": lambda: not run(doubled, X, X, max_output=3).complete,
    "max_steps": lambda: "step-limit" in codes(run(doubled, X, X, max_steps=3)),
    "order": lambda: run(two_tasks, X, X, order=5, clusters=1).verdict == "clean",
    "record": lambda: pytest.raises(ValueError, run(doubled, X, X).trace, os.devnull) and run(doubled, X, X, record=True),
    "schedule": lambda: run(doubled, X, X, schedule=["delay AIV0.MTE2 work 1 by 5000"]).cycles > run(doubled, X, X).cycles,
    "strict": lambda: (run(in_part, X, 4, X, X).verdict, run(in_part, X, 4, X, X, strict=True).verdict) == ("clean", "findings"),
    "timing": lambda: run(doubled, X, X, timing="slow:AIV0").cycles > run(doubled, X, X).cycles,
    "verify": lambda: any(row["tool"] == "verify" for row in run(doubled, X, X, verify=True).checks),
    # What it does is held by the tests of devices; a program without windows takes none.
    "windows": lambda: run(two_tasks, X, X, windows=[]).verdict == "clean" and pytest.raises(TypeError, run, two_tasks, X, X, windows=[b"1"]),
}


class Junk:
    """What no option takes."""

    def __bool__(self):
        return True


def test_each_option_of_a_run_has_an_effect():
    # Functions of the host are given as `host` by the package itself.
    assert set(EFFECTS) == set(_runs.OPTIONS) - {"host"}
    for name, effect in EFFECTS.items():
        assert effect(), name


@pytest.mark.parametrize("kernel", [doubled, two_tasks])
def test_no_option_of_a_run_takes_everything(kernel):
    for name in _runs.OPTIONS:
        if name == "host" and kernel is two_tasks:
            continue
        with pytest.raises(TypeError, match=f"^`{name}=` takes "):
            run(kernel, X, X, **{name: Junk()})
    for name in ("platform", "interpretation", "config", "where"):
        with pytest.raises((TypeError, ValueError, slipring.KernelError)):
            run(kernel, X, X, **{name: Junk()})
    with pytest.raises(TypeError, match="no parameter `blockz`"):
        run(kernel, X, X, blockz=2)


@pytest.mark.parametrize("name", ["host", "windows"])
def test_nothing_is_as_good_as_no_option(name):
    for kernel in (doubled, two_tasks):
        assert run(kernel, X, X, **{name: None}).verdict == "clean"


@pytest.mark.parametrize("name, value, error, says", [
    ("max_steps", -1, ValueError, "takes a non-negative integer, not -1"),
    ("max_steps", 2**64, ValueError, "takes a non-negative integer, not 18446744073709551616"),
    ("max_steps", None, TypeError, "takes a non-negative integer, not nothing"),
    ("blocks", 0, ValueError, "takes a number from 1 to 4096, not 0"),
    ("blocks", True, TypeError, "takes a number from 1 to 4096, not true"),
    ("blocks", 1.5, TypeError, "takes a number from 1 to 4096, not 1.5"),
    ("launches", 0, ValueError, "takes a number from 1 to 1000, not 0"),
    ("timing", 5, TypeError, "takes `platform`, `random:SEED`, `slow:CORE` or `slow:CORE.PIPE`, not 5"),
    ("timing", "fast", ValueError, "takes `platform`, `random:SEED`, `slow:CORE` or `slow:CORE.PIPE`, not `fast`"),
    ("check", 1, TypeError, "takes all, none, or a list of memory, sync, init, race, not 1"),
    ("check", {"rase"}, ValueError, "takes all, none, or a list of memory, sync, init, race, not `rase`"),
    ("strict", "no", TypeError, "takes true or false, not `no`"),
    ("assume", "", ValueError, "takes conditions such as `n % 8 == 0`, and there is none in ``"),
    ("assume", ["n > 0", ","], ValueError, "takes conditions such as `n % 8 == 0`, and there is none in `,`"),
    ("schedule", ["slower"], ValueError, "takes a schedule: `slower` is not `delay"),
    ("device", 150, TypeError, "takes a board: p100, p150, or the name of a file, not 150"),
])
def test_a_wrong_value_names_its_option(name, value, error, says):
    with pytest.raises(error) as raised:
        run(doubled, X, X, **{name: value})
    assert str(raised.value).startswith(f"`{name}=` {says}")


def test_a_reference_without_elements_says_that_it_says_nothing():
    none = np.ones((0, 64), np.float32)
    with pytest.warns(slipring.KernelWarning, match="the reference of `by_blocks` says nothing: every output has an extent of 0"):
        by_blocks.reference(none, none.copy())
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        by_blocks.reference(X, X.copy(), blocks=4)


def test_a_pipe_that_the_core_does_not_have_is_refused():
    for kernel in (doubled, two_tasks):
        with pytest.raises(TypeError, match="`timing=\"slow:AIV0.FIX\"`: AIV0 of a5 has no pipe FIX; it has S, V, MTE2, MTE3"):
            run(kernel, X, X, timing="slow:AIV0.FIX")


def test_what_has_no_effect_on_a_proof_is_refused():
    for verb, names in ((doubled.prove, ("events", "launches")), (doubled.rings, ("launches",))):
        for name in names:
            with pytest.raises(TypeError, match=f"`{name}=` has no effect here"):
                verb(X, X.copy(), **{name: 1})
    for verb, options in (
        (doubled.prove, {"check": "race", "record": True, "timing": "random:1"}),
        (doubled.rings, {"strict": True, "record": True, "assume": "n > 0"}),
    ):
        for name, value in options.items():
            with pytest.raises(TypeError, match=f"`{name}=` has no effect here"):
                verb(X, X.copy(), **{name: value})
    with pytest.raises(TypeError):
        doubled.prove(X, X.copy(), timings=Junk())
    with pytest.raises((TypeError, ValueError)):
        doubled.rings(X, X.copy(), sweep=Junk())


def test_what_the_compiler_says_comes_with_the_run():
    @pl.jit
    def half(x: pl.Tensor, out: pl.Out[pl.Tensor]):
        out[0:16, :] = x[0:16, :]

    run = half.run(X, X.copy())
    assert run.verdict == "clean" and codes(run) == ["output-in-part"]
    assert run.findings == run.facts["findings"] and "output-in-part" in run.report
    with pytest.warns(slipring.KernelWarning, match="is never written"):
        half(X, X.copy())


# Values that the public tools take and that ask for something.
VALUES = {
    _options._truth: True,
    _options._count: 3,
    _options._level: 2,
    _options._sizes: [4, 8],
    _options._number: 0.5,
    _options._path: "folder",
    _options._choice: OptimizationStrategy.DebugTileOptimization,
    _options._names: ["one"],
}


def options_of():
    """Each option of the public tools that changes no result, with what takes it."""
    lowered = doubled.lower(X, X, platform="a5")
    for name in ir.KEPT:
        yield name, lambda value, name=name: ir.compile(lowered, platform="a5sim", **{name: value})
    for name in runtime.KEPT:
        yield name, lambda value, name=name: runtime.RunConfig(platform="a5sim", **{name: value})
    for name in ("num_sub_workers", "runtime", "aicpu_thread_num"):
        yield name, lambda value, name=name: runtime.DistributedConfig(**{name: value})


def test_options_without_effect_say_so():
    for name, take in options_of():
        takes, silent, why = _options.WITHOUT_EFFECT[name]
        value = VALUES[takes] if name != "emit_source_loc" else False
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            take(value)
        said = [str(one.message) for one in caught if issubclass(one.category, slipring.KernelWarning)]
        assert (len(said), why is None) in ((1, False), (0, True)), (name, said)
        assert not said or f"`{name}={value!r}` has no effect" in said[0]
        assert not caught or caught[0].filename == __file__, "the warning names the script's own line"
        with pytest.raises(TypeError, match=name):
            take(Junk())
        if silent not in (None, ()):
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                take(silent)


def test_every_keyword_of_the_public_functions_is_known():
    """What has an effect is named here: a new keyword has to be put on one of the lists."""
    counted = {
        ir.compile: {"program", "platform", "config", "output_dir", "dump_passes", "backend_type", "options"},
        runtime.RunConfig: {"platform", "backend_type", "dump_passes", "distributed_config", "codegen_only", "save_kernels_dir"}
        | {*runtime.KEPT},
        runtime.DistributedConfig: {"device_ids", "num_sub_workers", "runtime", "aicpu_thread_num"},
        runtime.benchmark: {"compiled", "args", "rounds", "warmup", "platform", "device_id"},
        runtime.ChipWorker: {"config", "options"},
        DistributedWorker: {"compiled", "config", "persistent", "reset_persistent_windows", "callbacks", "sub_worker_overrides"}
        | {"inherited_host_tensors", "startup_timeout_s"},
    }
    for function, names in counted.items():
        assert set(inspect.signature(function).parameters) == names, function
    with pytest.raises(TypeError, match="no option `bogus`"):
        ir.compile(doubled.lower(X, X, platform="a5"), platform="a5", bogus=1)
    with pytest.raises(TypeError, match="bogus"):
        runtime.RunConfig(bogus=1)
    compiled = doubled.compile(X, X, platform="a5")
    for wrong in ({"rounds": 0}, {"rounds": Junk()}, {"warmup": -1}, {"platform": "a2a3"}, {"platform": "a9"}):
        with pytest.raises((TypeError, ValueError)):
            runtime.benchmark(compiled, [X, X.copy()], **wrong)
    worker = runtime.ChipWorker(platform="a5sim")
    for call in (lambda: worker.alloc_tensor([4], "float32", worker_id=1), lambda: worker.malloc(4, worker_id="x")):
        with pytest.raises(ValueError, match="worker_id"):
            call()


def test_a_configuration_counts_wherever_it_is_passed(tmp_path):
    out = np.zeros_like(X)
    compiled = doubled.compile(X, out, platform="a5")
    only = runtime.RunConfig(platform="a5", codegen_only=True)
    for run in (doubled.run, compiled.run):
        with pytest.raises(ValueError, match="codegen_only"):
            run(X, out, config=only)
    compiled.run(X, out, config=runtime.RunConfig(platform="a5", save_kernels_dir=str(tmp_path / "a")))
    assert sorted((tmp_path / "a").rglob("*.pto")), "no text"
    worker = runtime.ChipWorker(platform="a5", codegen_only=True, save_kernels_dir=str(tmp_path / "b"))
    out[:] = 0
    assert worker.run(compiled, X, out) is None
    assert not out.any() and sorted((tmp_path / "b").rglob("*.pto"))
    worker.run(compiled, X, out, config=runtime.RunConfig(platform="a5"))
    assert out.any()


def test_platforms_agree():
    lowered = doubled.lower(X, X, platform="a5")
    assert ir.compile(lowered, backend_type=BackendType.Ascend950).platform == "a5sim"
    assert runtime.RunConfig(backend_type=BackendType.Ascend910B).platform == "a2a3sim"
    for call in (
        lambda: ir.compile(lowered, platform="a5", backend_type=BackendType.Ascend910B),
        lambda: ir.compile(lowered, platform="a5", config=runtime.RunConfig(platform="a2a3")),
        lambda: runtime.RunConfig(platform="a5", backend_type=BackendType.Ascend910B),
        lambda: doubled.run(X, X.copy(), platform="a5", config=runtime.RunConfig(platform="a2a3")),
        lambda: doubled.compile(X, X, platform="a5", config=runtime.RunConfig(platform="a2a3")),
    ):
        with pytest.raises(ValueError, match="platform"):
            call()
    for junk in (Junk(), "Ascend950"):
        with pytest.raises(TypeError, match="backend_type"):
            ir.compile(lowered, backend_type=junk)


def test_a_program_that_no_platform_is_named_for_is_for_any_that_takes_it():
    small = np.full((16, 32), 5, np.int8)

    @pl.jit
    def less(x: pl.Tensor, out: pl.Out[pl.Tensor]):
        out[:, :] = x[:, :] - 3

    # Bytes are computed with on A5 only.
    assert ir.compile(less.lower(small, small), platform="a5sim").platform == "a5sim"
    for call in (lambda: less.lower(small, small, platform="a2a3"), lambda: ir.compile(less.lower(small, small), platform="a2a3")):
        with pytest.raises(slipring.KernelError, match="on a2a3"):
            call()

    @pl.jit
    def wrong(x: pl.Tensor, out: pl.Out[pl.Tensor]):
        out[:, :] = pl.nothing(x[:, :])

    with pytest.raises(slipring.KernelError, match="nothing"):
        wrong.lower(small, small)


def test_passes_are_written(tmp_path):
    lowered = doubled.lower(X, X, platform="a5")
    compiled = ir.compile(lowered, platform="a5sim", output_dir=tmp_path / "out", dump_passes=True)
    assert compiled.output_dir == tmp_path / "out"
    assert (tmp_path / "out" / "doubled.pto").read_text() == compiled.text
    files = sorted((tmp_path / "out" / "passes_dump" / "doubled").iterdir())
    names = [file.stem.partition("_")[2] for file in files]
    assert names[0] == "read" and {"check-split", "allocate", "insert-sync"} < set(names)
    assert "set_flag" not in files[0].read_text() and "set_flag" in files[-1].read_text()
    assert not (ir.compile(lowered, platform="a5sim", output_dir=tmp_path / "plain").output_dir / "passes_dump").exists()
    config = runtime.RunConfig(platform="a5sim", dump_passes=ir.PassDumpLevel.CONCISE)
    assert (doubled.compile(X, X, config=config).output_dir / "passes_dump" / "doubled").is_dir()
    with pytest.warns(slipring.KernelWarning, match="the program after each pass is written to"):
        doubled.run(X, X.copy(), config=config)
    program = ir.compile(two_tasks.lower(X, X, platform="a5"), platform="a5sim", output_dir=tmp_path / "tasks", dump_passes=True)
    assert len(list((program.output_dir / "passes_dump").iterdir())) == 2 and (program.output_dir / "two_tasks.tasks").is_file()
    for junk in (Junk(), "all", 1):
        with pytest.raises(TypeError, match="dump_passes"):
            ir.compile(lowered, platform="a5sim", dump_passes=junk)
        with pytest.raises(TypeError, match="dump_passes"):
            runtime.RunConfig(dump_passes=junk)


SCRIPT = """
import numpy as np
import pypto.language as pl
from pypto import ir

@pl.program
class P:
    @pl.function(type=pl.FunctionType.InCore)
    def kernel(self, a: pl.Tensor[[16, 32], pl.INT8], out: pl.Out[pl.Tensor[[16, 32], pl.INT8]]) -> pl.Tensor[[16, 32], pl.INT8]:
        t: pl.Tile[[16, 32], pl.INT8] = pl.load(a, [0, 0], [16, 32])
        return pl.store(pl.tile.subs(t, 3), [0, 0], out)

    @pl.function(type=pl.FunctionType.Orchestration)
    def main(self, a: pl.Tensor[[16, 32], pl.INT8], out: pl.Out[pl.Tensor[[16, 32], pl.INT8]]) -> pl.Tensor[[16, 32], pl.INT8]:
        return self.kernel(a, out)

@pl.program
class Numbers:
    @pl.function(type=pl.FunctionType.InCore)
    def k(self, out: pl.Out[pl.Tensor[[1, 32], pl.UINT32]]) -> pl.Tensor[[1, 32], pl.UINT32]:
        return pl.store(pl.tile.ci(0, [1, 32], dtype=pl.UINT32), [0, 0], out)

    @pl.function(type=pl.FunctionType.Orchestration)
    def main(self, out: pl.Out[pl.Tensor[[1, 32], pl.UINT32]]) -> pl.Tensor[[1, 32], pl.UINT32]:
        return self.k(out)

a, out = np.full((16, 32), 5, np.int8), np.zeros((16, 32), np.int8)
compiled = ir.compile(P, platform="a5sim")
compiled(a, out)
assert compiled.platform == "a5sim" and (out == 2).all()
numbers = np.zeros((1, 32), np.int32)
ir.compile(Numbers, platform="a5sim")(numbers)
assert np.array_equal(numbers[0], np.arange(32))
for wrong in (np.float32, np.int16, np.int64):
    try:
        ir.compile(Numbers, platform="a5sim")(np.zeros((1, 32), wrong))
    except TypeError:
        continue
    raise SystemExit(f"{wrong} is taken for ui32")
print("OK")
"""


def test_a_program_is_compiled_for_the_platform_that_is_asked_for(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    done = subprocess.run([sys.executable, "-m", "slipring.pypto", script], capture_output=True, text=True)
    assert done.stdout == "OK\n", done.stderr
