"""The counterpart of `pypto.runtime` for public scripts: how a kernel is run, and memory that stays on the device
between runs."""

import ctypes
import dataclasses
import os

from .._arrays import ELEMENTS, dtype_of, host_array
from .._compiled import compiled_into
from ._options import dumps, platform_of, said
from .bench import BenchmarkStats

# Names of platforms in public scripts.
PLATFORMS = {"a2a3": "a2a3", "a2a3sim": "a2a3", "a5": "a5", "a5sim": "a5"}
# The platform of configurations that name none.
_default = ["a2a3sim"]

# Fields of a public configuration that are stored, but change no result.
KEPT = """
device_id rtol atol strategy save_kernels enable_chip_swimlane enable_dump_args enable_pmu enable_dep_gen
enable_scope_stats compile_profiling diagnostic_phase disabled_diagnostics golden_data_dir aicpu_thread_num ring_task_window ring_heap
ring_dep_pool analyze_auto_scopes_for_deps memory_planner dump_ptoas_passes
""".split()


def choose(platform):
    """Sets the platform of configurations that name none."""
    _default[0] = known(platform)


def chosen():
    """The platform of configurations that name none."""
    return _default[0]


def known(platform):
    """A platform's name, if it is valid."""
    if platform not in PLATFORMS:
        raise ValueError(f"there is no platform `{platform}`: there are {', '.join(PLATFORMS)}")
    return platform


class DistributedConfig:
    """The devices of a program for several devices. Only their number matters here."""

    def __init__(self, device_ids=(0,), num_sub_workers=0, runtime="tensormap_and_ringbuffer", aicpu_thread_num=0):
        self.device_ids, self.num_sub_workers = list(device_ids), num_sub_workers
        self.runtime, self.aicpu_thread_num = runtime, aicpu_thread_num
        if not self.device_ids:
            raise ValueError("a program runs on one device or more")
        if min(self.device_ids) < 0 or len(set(self.device_ids)) != len(self.device_ids):
            raise ValueError(f"devices are numbers from 0 on, each once: {self.device_ids}")
        for name in ("num_sub_workers", "runtime", "aicpu_thread_num"):
            value = getattr(self, name)
            if not isinstance(value, int) or value >= 0:
                said(name, value, "a DistributedConfig")
        if num_sub_workers < 0:
            raise ValueError(f"{num_sub_workers} sub-workers")
        if aicpu_thread_num < 0 or aicpu_thread_num == 1:
            raise ValueError(f"aicpu_thread_num is 0 or at least 2, not {aicpu_thread_num}")


@dataclasses.dataclass
class RunConfig:
    """How a public script runs a kernel: the platform (or a backend that implies one), the devices, whether the program
    is written after each pass, `save_kernels_dir` as the folder for the compiled text, and `codegen_only` for a call
    that compiles without running. The other public fields are stored; a warning reports those that request something
    unsupported."""

    platform: str | None = None
    device_id: int = 0
    rtol: float = 1e-5
    atol: float = 1e-5
    strategy: object = None
    backend_type: object = None
    dump_passes: object = False
    save_kernels: bool = False
    save_kernels_dir: object = None
    codegen_only: bool = False
    enable_chip_swimlane: int = 0
    enable_dump_args: int = 0
    enable_pmu: int = 0
    enable_dep_gen: bool = False
    enable_scope_stats: bool = False
    compile_profiling: bool = False
    diagnostic_phase: object = None
    disabled_diagnostics: object = None
    golden_data_dir: object = None
    aicpu_thread_num: int | None = None
    ring_task_window: object = None
    ring_heap: object = None
    ring_dep_pool: object = None
    distributed_config: DistributedConfig | None = None
    analyze_auto_scopes_for_deps: bool = False
    memory_planner: object = None
    dump_ptoas_passes: bool = False

    def __post_init__(self):
        named = platform_of(self.platform, self.backend_type, "a RunConfig")
        self.platform = known(chosen() if named is None else named)
        dumps(self.dump_passes, "a RunConfig")
        if self.distributed_config is not None and not isinstance(self.distributed_config, DistributedConfig):
            raise TypeError("`distributed_config` is a DistributedConfig")
        if not isinstance(self.codegen_only, bool):
            raise TypeError(f"a RunConfig: `codegen_only` is True or False, not {self.codegen_only!r}")
        if self.save_kernels_dir is not None and not isinstance(self.save_kernels_dir, (str, os.PathLike)):
            raise TypeError(f"a RunConfig: `save_kernels_dir` is a path, not {self.save_kernels_dir!r}")
        for name in KEPT:
            # One frame deeper: the generated initialiser is in between.
            said(name, getattr(self, name), "a RunConfig", depth=3)

    @property
    def devices(self):
        """The number of requested devices; `None` if unspecified."""
        return None if self.distributed_config is None else len(self.distributed_config.device_ids)


class DeviceTensor:
    """Memory of a worker's device: it stays there between runs, and is copied neither in nor out."""

    def __init__(self, worker, array):
        self._worker, self._array = worker, array
        self.shape = tuple(array.shape)
        self.dtype = array.dtype

    @property
    def data_ptr(self):
        """Its address."""
        return self._worker._memory(self).ctypes.data

    @property
    def nbytes(self):
        """Its size in bytes."""
        return self._array.nbytes

    def __repr__(self):
        return f"DeviceTensor({list(self.shape)}, {self.dtype})"


class Registration:
    """A compiled program on a worker: it is called with arguments, and closed with its worker."""

    def __init__(self, worker, compiled):
        self._worker, self.compiled = worker, compiled

    @property
    def closed(self):
        """Whether its worker is closed."""
        return not self._worker._open

    def __call__(self, *args, config=None):
        """Runs it: a checked run, whose outputs are written."""
        self._worker._check("a registered program")
        return self._worker.run(self.compiled, *args, config=config)


class Worker:
    """The common base of workers for one device and for several, for annotations and `isinstance`."""

    def __init__(self, *args, **kwargs):
        raise TypeError("a Worker is a ChipWorker or a DistributedWorker")


class ChipWorker(Worker):
    """A device with compiled programs. Its memory is that of this process."""

    # Number of devices.
    devices = 1

    def __init__(self, config=None, **options):
        if config is not None and options:
            raise TypeError(f"a ChipWorker takes a RunConfig, or its fields: both are given ({', '.join(options)})")
        if config is not None and not isinstance(config, RunConfig):
            raise TypeError(f"a ChipWorker takes a RunConfig, not {type(config).__name__}")
        self.config = config if config is not None else RunConfig(**options)
        self._owned_tensors, self._registered, self._open = [], {}, True

    def _check(self, what="it"):
        if not self._open:
            raise RuntimeError(f"the worker is closed: {what} was called after close")

    def _device(self, worker_id):
        if isinstance(worker_id, bool) or not isinstance(worker_id, int) or not 0 <= worker_id < self.devices:
            raise ValueError(f"worker_id is the number of a device, from 0 to {self.devices - 1}, not {worker_id!r}")

    def _memory(self, tensor):
        self._check()
        if tensor._worker is not self:
            raise ValueError("the tensor is another worker's")
        if not any(own is tensor for own in self._owned_tensors):
            raise ValueError("the tensor has been freed")
        return tensor._array

    def alloc_tensor(self, shape, dtype, *, init=None, worker_id=0):
        """Allocates memory on the device, initialised with a copy of `init` or with zeros. All devices share the
        process's memory."""
        import numpy as np

        self._check()
        self._device(worker_id)
        array = np.zeros([int(extent) for extent in shape], dtype=_numpy_type(dtype))
        if init is not None:
            given = host_array(init)
            if given.shape != array.shape or given.dtype != array.dtype:
                raise ValueError(f"init is {given.dtype}{list(given.shape)}, the tensor {array.dtype}{list(array.shape)}")
            array[...] = given
        tensor = DeviceTensor(self, array)
        self._owned_tensors.append(tensor)
        return tensor

    def free_tensor(self, tensor, *, worker_id=0):
        """Frees memory of the device."""
        self._device(worker_id)
        self._memory(tensor)
        self._owned_tensors = [own for own in self._owned_tensors if own is not tensor]

    def malloc(self, nbytes, *, worker_id=0):
        """Allocates memory of this size on the device, and returns its address."""
        return self.alloc_tensor([nbytes], "uint8", worker_id=worker_id).data_ptr

    def free(self, ptr, *, worker_id=0):
        """Frees memory from `malloc`."""
        tensor = next((own for own in self._owned_tensors if own._array.ctypes.data == ptr), None)
        if tensor is None:
            raise ValueError(f"no memory of the device begins at {ptr:#x}")
        self.free_tensor(tensor, worker_id=worker_id)

    def copy_from(self, host_ptr, dev_ptr, nbytes, *, worker_id=0):
        """Copies memory of the device, at `dev_ptr`, to the address `host_ptr` of the host."""
        self._device(worker_id)
        self._move(host_ptr, dev_ptr, nbytes, to_device=False)

    def copy_to(self, dev_ptr, host_ptr, nbytes, *, worker_id=0):
        """Copies the host's memory at the address `host_ptr` to the device, at `dev_ptr`."""
        self._device(worker_id)
        self._move(host_ptr, dev_ptr, nbytes, to_device=True)

    def _move(self, host_ptr, dev_ptr, nbytes, to_device):
        self._check()
        for tensor in self._owned_tensors:
            first = tensor._array.ctypes.data
            if first <= dev_ptr and dev_ptr + nbytes <= first + tensor.nbytes:
                break
        else:
            raise ValueError(f"{nbytes} bytes at {dev_ptr:#x} are in no tensor of the device")
        target, source = (dev_ptr, host_ptr) if to_device else (host_ptr, dev_ptr)
        ctypes.memmove(target, source, nbytes)

    def register(self, compiled):
        """Puts a compiled program on the device, and returns a callable that runs it."""
        self._check("`register`")
        if PLATFORMS[compiled.platform] != PLATFORMS[self.config.platform]:
            raise ValueError(f"the program is compiled for {compiled.platform}, the worker is {self.config.platform}")
        self._registered[id(compiled)] = compiled
        return Registration(self, compiled)

    @property
    def aicpu_dlopen_count(self):
        """The number of programs that have been put on the device."""
        return len(self._registered)

    def run(self, compiled, *args, config=None):
        """Runs a compiled program: a checked run, whose outputs are written."""
        if id(compiled) not in self._registered:
            self.register(compiled)
        args = [self._memory(arg) if isinstance(arg, DeviceTensor) else arg for arg in args]
        return compiled(*args, config=self.config if config is None else config)

    def close(self):
        """Frees everything."""
        self._open = False
        self._owned_tensors, self._registered = [], {}

    def __enter__(self):
        self._check()
        return self

    def __exit__(self, *_):
        self.close()


def _numpy_type(dtype):
    name = str(dtype).removeprefix("torch.")
    return dtype_of(ELEMENTS[name]) if name in ELEMENTS else dtype


def benchmark(compiled, args, rounds=100, warmup=3, platform=None, device_id=0):
    """Runs a compiled program `rounds` times: device time in microseconds computed from its cycles, and host time from
    the clock."""
    import time

    if platform is not None and PLATFORMS[known(platform)] != PLATFORMS[compiled.platform]:
        raise ValueError(f"the program is compiled for {compiled.platform}, not {platform}")
    for name, value, least in (("rounds", rounds, 1), ("warmup", warmup, 0)):
        if isinstance(value, bool) or not isinstance(value, int) or value < least:
            raise ValueError(f"`{name}` is a whole number, not below {least}, not {value!r}")
    said("device_id", device_id, "benchmark")
    device, host = [], []
    for at in range(warmup + rounds):
        before = time.perf_counter()
        run = compiled.run(*args)
        run.check()
        if at >= warmup:
            host.append((time.perf_counter() - before) * 1e6)
            device.append(run.facts["microseconds"])
    return BenchmarkStats(rounds, warmup, device, host)


@dataclasses.dataclass(frozen=True)
class DfxOptions:
    """What a run of a compiled folder should measure. It is stored, and changes no result."""

    enable_chip_swimlane: int = 0
    enable_dump_args: int = 0
    enable_pmu: int = 0
    enable_dep_gen: bool = False
    enable_scope_stats: bool = False

    def any(self):
        """Whether anything should be measured."""
        return any(getattr(self, field.name) for field in dataclasses.fields(self))


def execute_compiled(
    work_dir, args, *, platform, device_id, dfx=None, level=2, aicpu_thread_num=None, analyze_auto_scopes_for_deps=False
):
    """Runs the program that this process compiled into a folder (its `output_dir`), with all its arguments in order: a
    checked run, whose outputs are written in place. Numbers may be `ctypes` values."""
    compiled = compiled_into(work_dir)
    if PLATFORMS[known(platform)] != PLATFORMS[compiled.platform]:
        raise ValueError(f"`{compiled.name}` is compiled for {compiled.platform}, not for {platform}")
    if isinstance(level, bool) or level != 2:
        raise ValueError(f"execute_compiled: `level` is 2, not {level!r}")
    said("device_id", device_id, "execute_compiled")
    said("aicpu_thread_num", aicpu_thread_num, "execute_compiled")
    said("analyze_auto_scopes_for_deps", analyze_auto_scopes_for_deps, "execute_compiled")
    if dfx is not None and not isinstance(dfx, DfxOptions):
        raise TypeError(f"execute_compiled: `dfx` is a _DfxOpts, not {dfx!r}")
    for field in dataclasses.fields(DfxOptions) if dfx is not None else ():
        said(field.name, getattr(dfx, field.name), "execute_compiled")
    if len(args) != len(compiled.param_names):
        names = ", ".join(compiled.param_names)
        raise TypeError(f"`{compiled.name}` takes {len(compiled.param_names)} arguments ({names}), {len(args)} given")
    values = []
    for arg in args:
        if isinstance(arg, DeviceTensor):
            arg = arg._worker._memory(arg)
        values.append(arg.value if isinstance(arg, ctypes._SimpleCData) else arg)
    compiled(*values)


__all__ = """
BenchmarkStats ChipWorker DeviceTensor DistributedConfig RunConfig Worker benchmark execute_compiled
""".split()
